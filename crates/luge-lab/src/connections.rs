//! Accepts connections within limits on their number and on the time that a request may take to arrive.

use std::{io, sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{net::TcpListener, sync::Semaphore, time};

/// How long a request may take to arrive.
const REQUEST: Duration = Duration::from_secs(10);

/// The same while more than half of all connections are open, so that silent clients soon make room for others.
const REQUEST_IN_A_CROWD: Duration = Duration::from_secs(1);

/// How long a connection stays open, unless it becomes the socket of a tab; the tab's heartbeat watches over that.
const CONNECTION: Duration = Duration::from_secs(60);

/// Connections open at a time; further clients wait.
const MAX_CONNECTIONS: usize = 256;

/// Serves every connection until the process ends.
pub(super) async fn serve(listener: TcpListener, router: Router) -> io::Result<()> {
    let free = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let permit = Arc::clone(&free).acquire_owned().await.map_err(io::Error::other)?;
        let crowded = free.available_permits() < MAX_CONNECTIONS / 2;
        let Ok((stream, _)) = listener.accept().await else {
            // No file handles left, or the client has gone: others may come.
            time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(if crowded { REQUEST_IN_A_CROWD } else { REQUEST })
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()))
            .with_upgrades();
        tokio::spawn(async move {
            // A client that breaks its connection hurts only itself.
            let _ = time::timeout(CONNECTION, connection).await;
            drop(permit);
        });
    }
}
