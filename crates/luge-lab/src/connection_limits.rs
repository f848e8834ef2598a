//! Limits on connections: a request must arrive in time, and only so many are open at once.

use std::{
    future::Future,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::serve::Listener;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{self, Instant, Sleep},
};

/// How long a first request may take to come in.
const FIRST: Duration = Duration::from_secs(10);

/// The same where half of all connections are taken: whoever opens many and says nothing soon makes room for others.
const FIRST_IN_A_CROWD: Duration = Duration::from_secs(1);

/// How long a connection may be silent on the server's side. Sockets of tabs are asked every ten seconds whether they are there.
const SILENCE: Duration = Duration::from_secs(60);

/// Connections at a time; more wait until one ends.
const MAX_CONNECTIONS: usize = 256;

/// Accepts connections, a limited number of them.
pub(crate) struct Patient {
    listener: TcpListener,
    room: Arc<Semaphore>,
}

impl Patient {
    pub(crate) fn new(listener: TcpListener) -> Self {
        Self { listener, room: Arc::new(Semaphore::new(MAX_CONNECTIONS)) }
    }
}

impl Listener for Patient {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        loop {
            // The semaphore is never closed.
            let Ok(permit) = Arc::clone(&self.room).acquire_owned().await else { continue };
            let crowded = self.room.available_permits() < MAX_CONNECTIONS / 2;
            let first = if crowded { FIRST_IN_A_CROWD } else { FIRST };
            match self.listener.accept().await {
                Ok((stream, address)) => return (Connection::new(stream, permit, first), address),
                // Out of handles, or gone already: others may come.
                Err(_) => time::sleep(Duration::from_millis(100)).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that ends by itself if nothing comes of it.
pub(crate) struct Connection {
    stream: TcpStream,
    deadline: Pin<Box<Sleep>>,
    _permit: OwnedSemaphorePermit,
}

impl Connection {
    fn new(stream: TcpStream, permit: OwnedSemaphorePermit, first: Duration) -> Self {
        Self { stream, deadline: Box::pin(time::sleep(first)), _permit: permit }
    }

    fn answered(&mut self) {
        self.deadline.as_mut().reset(Instant::now() + SILENCE);
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.deadline.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if written.is_ready() {
            self.answered();
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
