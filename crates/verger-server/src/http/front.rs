//! `/`: what this is, for who types the address into a browser. A dashboard comes later.

use axum::response::Html;

use super::routes::Routes;
use super::told::{Told, Who};

const PAGE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Verger</title>\
    <h1>Verger</h1><p>This monitor watches autonomous agents. There is no dashboard yet.</p>\
    <ul><li><a href=\"/v1/fleet\">/v1/fleet</a>: all agents at a glance (sign in with <code>verger open</code>)</li>\
    <li><a href=\"/v1/agents\">/v1/agents</a>: each of them</li>\
    <li><a href=\"/ready\">/ready</a>: whether the monitor does its work</li>\
    <li><a href=\"/openapi.json\">/openapi.json</a>: every address</li></ul></html>\n";

pub(super) fn routes() -> Routes {
    let told = Told::new("getFront", "monitor", "What this is, for a browser", Who::Anybody);
    Routes::new().get("/", page, told.answers_text("A page.", "text/html"))
}

async fn page() -> Html<&'static str> {
    Html(PAGE)
}
