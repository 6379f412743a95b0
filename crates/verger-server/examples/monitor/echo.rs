//! The least that a heartbeat could cost: a bare axum server that reads the same JSON and writes it back.
//!
//! It runs as a child, as the monitor does, so that the kernel charges each for its own work alone.

use axum::Router;
use axum::extract::Json;
use axum::routing::post;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::Measured;
use crate::requests::BEATS;

/// By which this program knows that it is to echo.
pub(crate) const COMMAND: &str = "echo";

/// Serves until it is killed.
pub(crate) fn run() -> Measured<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("http://{}", listener.local_addr()?);
        let router = Router::new().route(BEATS, post(async |Json(body): Json<Value>| Json(body)));
        Ok(axum::serve(listener, router).await?)
    })
}
