//! `luge lsp`: a language server for Sled, over standard input and output.

mod document;
mod text;
mod transport;

use std::collections::BTreeMap;

use lsp_server::{Connection, ErrorCode, Message, Notification, ProtocolError, Request, Response};
use lsp_types::{
    HoverProviderCapability, OneOf, PublishDiagnosticsParams, ServerCapabilities, TextDocumentSyncCapability,
    TextDocumentSyncKind, Uri,
    notification::{
        DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, Notification as NotificationKind,
        PublishDiagnostics,
    },
    request::{Formatting, HoverRequest, Request as RequestKind},
};

use super::Failure;
use document::Document;

/// Start a language server for Sled: errors, formatting, and the cost of a line
///
/// It speaks the language server protocol over standard input and output, and is started by an editor.
#[derive(clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_: &Args) -> Result<(), Failure> {
    let (connection, threads) = transport::stdio();
    let served = serve(connection);
    match served {
        // An editor that has disconnected gets no message.
        Err(error) if !error.channel_is_disconnected() => Err(broken(&error.to_string())),
        _ => threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(ended) => ended.map_err(|error| broken(&error.to_string())),
            Err(_) => Err(broken("a thread panicked")),
        }),
    }
}

fn broken(reason: &str) -> Failure {
    Failure::error(
        format!("the connection to the editor was lost: {reason}"),
        "let an editor start `luge lsp`, as a language server for .sled files",
    )
}

/// What the server offers.
fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::FULL)),
        document_formatting_provider: Some(OneOf::Left(true)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        ..ServerCapabilities::default()
    }
}

/// Answers an editor until it shuts the server down.
fn serve(connection: Connection) -> Result<(), ProtocolError> {
    connection.initialize(serde_json::json!(capabilities()))?;
    let mut server = Server { connection, documents: BTreeMap::new() };
    while let Ok(message) = server.connection.receiver.recv() {
        match message {
            Message::Request(request) if server.connection.handle_shutdown(&request)? => return Ok(()),
            Message::Request(request) => {
                let response = server.answer(request);
                server.send(response);
            }
            Message::Notification(notification) => _ = server.notified(notification),
            Message::Response(_) => {}
        }
    }
    Ok(())
}

/// The connection to an editor, and its open documents.
struct Server {
    connection: Connection,
    /// By their URIs.
    documents: BTreeMap<String, Document>,
}

impl Server {
    /// Sends a message. If the editor has disconnected, the loop ends when it reads the next message.
    fn send(&self, message: impl Into<Message>) {
        let _ = self.connection.sender.send(message.into());
    }

    fn answer(&self, request: Request) -> Response {
        match request.method.as_str() {
            Formatting::METHOD => answered::<Formatting>(request, |asked| {
                self.document(&asked.text_document.uri).and_then(Document::formatted)
            }),
            HoverRequest::METHOD => answered::<HoverRequest>(request, |asked| {
                let at = asked.text_document_position_params;
                self.document(&at.text_document.uri).and_then(|document| document.cost(at.position.line))
            }),
            other => {
                let message = format!("luge lsp does not know `{other}`");
                Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message)
            }
        }
    }

    fn document(&self, uri: &Uri) -> Option<&Document> {
        self.documents.get(uri.as_str())
    }

    /// Handles a notification. One that is invalid is ignored, as the protocol demands.
    fn notified(&mut self, notification: Notification) -> Option<()> {
        match notification.method.as_str() {
            DidOpenTextDocument::METHOD => {
                let item = params::<DidOpenTextDocument>(notification)?.text_document;
                self.read(&item.uri, item.text, item.version);
            }
            DidChangeTextDocument::METHOD => {
                let mut changed = params::<DidChangeTextDocument>(notification)?;
                let (document, change) = (changed.text_document, changed.content_changes.pop()?);
                self.read(&document.uri, change.text, document.version);
            }
            DidCloseTextDocument::METHOD => {
                let uri = params::<DidCloseTextDocument>(notification)?.text_document.uri;
                self.documents.remove(uri.as_str());
                self.publish(PublishDiagnosticsParams::new(uri, Vec::new(), None));
            }
            _ => {}
        }
        Some(())
    }

    /// Checks a text, and sends its errors.
    fn read(&mut self, uri: &Uri, text: String, version: i32) {
        let document = Document::new(text);
        self.publish(PublishDiagnosticsParams::new(uri.clone(), document.diagnostics(), Some(version)));
        self.documents.insert(uri.as_str().to_owned(), document);
    }

    fn publish(&self, params: PublishDiagnosticsParams) {
        self.send(Notification::new(PublishDiagnostics::METHOD.to_owned(), params));
    }
}

/// Answers a request if its parameters are valid.
fn answered<R: RequestKind>(request: Request, answer: impl FnOnce(R::Params) -> R::Result) -> Response {
    match serde_json::from_value::<R::Params>(request.params) {
        Ok(params) => Response::new_ok(request.id, answer(params)),
        Err(error) => Response::new_err(request.id, ErrorCode::InvalidParams as i32, error.to_string()),
    }
}

/// The parameters of a notification; `None` if they are invalid.
fn params<N: NotificationKind>(notification: Notification) -> Option<N::Params> {
    serde_json::from_value(notification.params).ok()
}
