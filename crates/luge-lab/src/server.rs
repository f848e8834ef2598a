//! The server: local only, with the files of the page and one socket per tab.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, SyncSender, TrySendError},
    },
    thread,
    time::Duration,
};

use axum::{
    Router,
    extract::{
        Request as HttpRequest, State, WebSocketUpgrade,
        ws::{Message, WebSocket},
    },
    http::{HeaderMap, HeaderName, Method, StatusCode, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get,
};
use tokio::{net::TcpListener, sync::mpsc::Sender, time};

use super::{
    Command, Refusal, assets,
    command::{MAX_BYTES, refused},
    connections,
    session::{Channel, Permit, greeting, run_session},
};

/// The longest message that is received before it is refused.
const MAX_TAKEN: usize = 4 * MAX_BYTES;

/// The most tabs open at a time.
pub const MAX_TABS: usize = 64;

/// The most commands of a tab that wait while its run is busy; each has at most [`MAX_BYTES`].
pub const MAX_WAITING: usize = 64;

/// The most messages that wait for a tab.
const QUEUE: usize = 16;

/// The time between two pings of a tab.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// A server that has its port but does not serve yet.
pub struct Lab {
    listener: std::net::TcpListener,
    /// Its address.
    pub address: SocketAddr,
    /// How much is open.
    pub counts: Counts,
}

/// How many tabs and runs are open.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    tabs: Arc<AtomicUsize>,
    runs: Arc<AtomicUsize>,
}

impl Counts {
    /// Open tabs.
    pub fn tabs(&self) -> usize {
        self.tabs.load(Ordering::SeqCst)
    }

    /// Open runs.
    pub fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

#[derive(Clone)]
struct Shared {
    port: u16,
    counts: Counts,
    greeting: Arc<str>,
}

impl Lab {
    /// Binds a port of this machine; port 0 is any free one.
    ///
    /// # Errors
    /// If the port is taken.
    pub fn bind(port: u16) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, counts: Counts::default() })
    }

    /// Serves until the process ends.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn serve(self) -> io::Result<()> {
        let shared = Shared { port: self.address.port(), counts: self.counts, greeting: greeting().into() };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        runtime.block_on(async move {
            let listener = TcpListener::from_std(self.listener)?;
            let router = Router::new()
                .route("/socket", get(socket))
                .fallback(file)
                .layer(from_fn_with_state(shared.clone(), guard))
                .with_state(shared);
            connections::serve(listener, router).await
        })
    }
}

/// Refuses requests that are not meant for this server or come from other pages, and sets the security headers.
async fn guard(State(shared): State<Shared>, asked: HttpRequest, next: Next) -> Response {
    let response = match refusal(&shared, asked.headers()) {
        Some(refused) => refused.into_response(),
        None => next.run(asked).await,
    };
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                  connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    (headers, response).into_response()
}

fn refusal(shared: &Shared, headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
    let own = |host: &str| {
        [format!("127.0.0.1:{}", shared.port), format!("localhost:{}", shared.port)]
            .contains(&host.to_owned())
    };
    let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if headers.get_all(header::HOST).iter().count() != 1 || !text(header::HOST).is_some_and(own) {
        return Some((StatusCode::FORBIDDEN, "this server answers only to 127.0.0.1 and localhost\n"));
    }
    let foreign = |origin: &str| !origin.strip_prefix("http://").is_some_and(own);
    if text(header::ORIGIN).is_some_and(foreign) {
        return Some((StatusCode::FORBIDDEN, "this server answers only to its own page\n"));
    }
    let length = text(header::CONTENT_LENGTH).map_or(Some(0), |length| length.parse::<usize>().ok());
    if length.is_none_or(|length| length > MAX_BYTES) {
        return Some((StatusCode::PAYLOAD_TOO_LARGE, "a request may have at most 1 MiB\n"));
    }
    None
}

async fn file(asked: HttpRequest) -> Response {
    let Some(asset) = assets::at(asked.uri().path()) else {
        return (StatusCode::NOT_FOUND, "there is no such page\n").into_response();
    };
    if !matches!(*asked.method(), Method::GET | Method::HEAD) {
        return (StatusCode::METHOD_NOT_ALLOWED, "files are only read\n").into_response();
    }
    ([(header::CONTENT_TYPE, asset.media())], asset.bytes).into_response()
}

async fn socket(
    State(shared): State<Shared>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Response {
    let Ok(upgrade) = upgrade else {
        return (StatusCode::UPGRADE_REQUIRED, "this is where pages connect their sockets\n").into_response();
    };
    if !headers.contains_key(header::ORIGIN) {
        return (StatusCode::FORBIDDEN, "a socket must say where it comes from\n").into_response();
    }
    let Some(tab) = Permit::new(&shared.counts.tabs, MAX_TABS) else {
        return (StatusCode::SERVICE_UNAVAILABLE, "64 tabs are open already: close one\n").into_response();
    };
    upgrade
        .max_message_size(MAX_TAKEN)
        .max_frame_size(MAX_TAKEN)
        .on_upgrade(move |socket| async move { serve_tab(socket, shared, &tab).await })
}

/// Passes messages between a socket and the thread of its tab, until one of them ends.
async fn serve_tab(mut socket: WebSocket, shared: Shared, _tab: &Permit) {
    let (commands, received) = mpsc::sync_channel(MAX_WAITING);
    let (answers, mut to_send) = tokio::sync::mpsc::channel::<String>(QUEUE);
    let refusals = answers.clone();
    let runs = Arc::clone(&shared.counts.runs);
    let worker = thread::Builder::new().name("run".to_owned());
    let send = move |text: String| answers.blocking_send(text).is_ok();
    let spawned = worker.spawn(move || run_session(&mut Channel { commands: received, send }, &runs));
    if spawned.is_err() || socket.send(Message::Text((*shared.greeting).into())).await.is_err() {
        return;
    }
    let mut heartbeat = time::interval(HEARTBEAT);
    let mut silent = 0;
    // Leaving this loop drops both channels, which ends the run.
    loop {
        tokio::select! {
            message = socket.recv() => {
                silent = 0;
                match message {
                    Some(Ok(Message::Text(text))) => {
                        if !pass_on(&text, &commands, &refusals) {
                            return;
                        }
                    }
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                    Some(Ok(_)) => {}
                }
            }
            text = to_send.recv() => {
                let Some(text) = text else { return };
                if time::timeout(HEARTBEAT * 3, socket.send(Message::Text(text.into()))).await.is_err() {
                    return;
                }
            }
            _ = heartbeat.tick() => {
                silent += 1;
                if silent > 3 || socket.send(Message::Ping(Vec::new().into())).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Passes a command on to the thread of its tab, or answers with a refusal; `false` once the thread has ended.
fn pass_on(text: &str, commands: &SyncSender<Command>, refusals: &Sender<String>) -> bool {
    let refusal = match Command::read(text).map(|command| commands.try_send(command)) {
        Ok(Ok(())) => return true,
        Ok(Err(TrySendError::Disconnected(_))) => return false,
        Ok(Err(TrySendError::Full(_))) => {
            Refusal::new("options", format!("{MAX_WAITING} commands wait already: this one is dropped"))
        }
        Err(refusal) => refusal,
    };
    // A page that does not keep up gets no more messages.
    let _ = refusals.try_send(refused(None, &refusal).to_string());
    true
}
