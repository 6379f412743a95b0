//! Takes local clients in, over the socket in the data directory, within the same bounds as all others.
//!
//! A few seats are kept for them: when others have taken all there are, whoever operates the monitor can still ask it.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::Router;
use tokio::net::UnixStream;

use super::connections::{Connections, Serve};
use super::listener::{Doorway, NO_ROOM_PAUSE, connections_by_files, version};
use crate::traffic::{Seat, Traffic};
use crate::unix::{LocalPeer, Socket};

/// Seats that are theirs alone.
const KEPT: usize = 64;
/// All local clients have one address, which is not counted.
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Serves these addresses over the socket for ever. To be dropped when that is no longer wanted.
pub async fn serve_locally(socket: Socket, router: Router, traffic: Arc<Traffic>) {
    Local::new(socket).run(&Connections::new(router, traffic)).await;
}

/// Where local clients come in.
pub(super) struct Local {
    socket: Socket,
    doorway: Doorway,
}

impl Local {
    pub(super) fn new(socket: Socket) -> Self {
        Self { socket, doorway: Doorway::new(connections_by_files() + KEPT, KEPT) }
    }

    /// Takes connections in for ever. To be dropped when no more are wanted.
    pub(super) async fn run(&self, connections: &Connections) {
        loop {
            match self.socket.accept().await {
                Ok((stream, peer)) => self.take(stream, peer, connections),
                Err(_) => tokio::time::sleep(NO_ROOM_PAUSE).await,
            }
        }
    }

    fn take(&self, stream: UnixStream, peer: LocalPeer, connections: &Connections) {
        match self.doorway.seat(connections.traffic(), HERE) {
            Ok(seat) => {
                let serve = connections.one();
                tokio::spawn(async move {
                    let seat = Arc::new(seat);
                    tokio::select! {
                        () = greet(stream, peer, serve, &seat) => {}
                        () = seat.let_go() => {}
                    }
                });
            }
            Err(none) => self.doorway.turn_away(stream, none),
        }
    }
}

async fn greet(stream: UnixStream, peer: LocalPeer, serve: Serve, seat: &Arc<Seat>) {
    if let Ok(Ok(version)) = tokio::time::timeout(serve.head_within(), version(&stream)).await {
        Box::pin(serve.run(stream, version, peer, seat)).await;
    }
}
