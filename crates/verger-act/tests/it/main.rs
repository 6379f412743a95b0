//! Effects carried out on real programs and a real HTTP server on this machine.

mod carrying;
mod process;
mod programs;
mod server;
mod webhooks;
