//! The table of addresses: what is served and what is said of it are one entry.
//!
//! An address cannot be served without a description, nor be described without being served, so `/openapi.json` lacks
//! nothing and promises nothing more. Each resource hands in its own part.

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodFilter, on};
use utoipa::openapi::Paths;
use utoipa::openapi::path::HttpMethod;

use super::App;
use super::told::Told;

/// Addresses, served and described.
pub(super) struct Routes {
    pub(super) router: Router<App>,
    pub(super) paths: Paths,
}

/// By which method an address is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Post,
    Put,
    Delete,
}

impl Routes {
    pub(super) fn new() -> Self {
        Self { router: Router::new(), paths: Paths::new() }
    }

    pub(super) fn get<H: Handler<T, App>, T: 'static>(
        self,
        path: &'static str,
        handler: H,
        told: Told,
    ) -> Self {
        self.on(Method::Get, path, handler, told)
    }

    pub(super) fn post<H: Handler<T, App>, T: 'static>(
        self,
        path: &'static str,
        handler: H,
        told: Told,
    ) -> Self {
        self.on(Method::Post, path, handler, told)
    }

    pub(super) fn put<H: Handler<T, App>, T: 'static>(
        self,
        path: &'static str,
        handler: H,
        told: Told,
    ) -> Self {
        self.on(Method::Put, path, handler, told)
    }

    pub(super) fn delete<H: Handler<T, App>, T: 'static>(
        self,
        path: &'static str,
        handler: H,
        told: Told,
    ) -> Self {
        self.on(Method::Delete, path, handler, told)
    }

    fn on<H: Handler<T, App>, T: 'static>(
        self,
        method: Method,
        path: &'static str,
        handler: H,
        told: Told,
    ) -> Self {
        self.under(method, path, handler, vec![(path, told)])
    }

    /// One handler for all that begins alike, as for names that hold slashes; each of its addresses is described.
    pub(super) fn under<H: Handler<T, App>, T: 'static>(
        mut self,
        method: Method,
        served: &'static str,
        handler: H,
        told: Vec<(&'static str, Told)>,
    ) -> Self {
        let (filter, asked) = match method {
            Method::Get => (MethodFilter::GET, HttpMethod::Get),
            Method::Post => (MethodFilter::POST, HttpMethod::Post),
            Method::Put => (MethodFilter::PUT, HttpMethod::Put),
            Method::Delete => (MethodFilter::DELETE, HttpMethod::Delete),
        };
        self.router = self.router.route(served, on(filter, handler));
        for (path, told) in told {
            self.paths.add_path_operation(path, vec![asked.clone()], told.operation(path));
        }
        self
    }

    /// With those of another resource.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        self.paths.merge(other.paths);
        self
    }
}
