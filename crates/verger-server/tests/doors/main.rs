//! The doors of the monitor, tried from outside: real sockets, real processes, a real gRPC client.

mod client;
mod grpc;
mod matrix;
mod metrics;
mod pings;
mod served;
mod sessions;
mod socket;
mod tokens;
mod unverified;
