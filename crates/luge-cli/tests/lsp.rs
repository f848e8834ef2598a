//! `luge lsp` as an editor speaks to it.

use std::{
    io::{BufReader, BufWriter, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use lsp_server::{Message, Notification, Request, RequestId};
use serde_json::{Value, json};

/// An editor with a server of its own.
struct Editor {
    server: Child,
    to: Option<BufWriter<ChildStdin>>,
    from: BufReader<ChildStdout>,
    n_requests: i32,
}

const FILE: &str = "file:///home/me/my%20sum.sled";

impl Editor {
    fn start() -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_luge"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("luge starts");
        let to = server.stdin.take().map(BufWriter::new);
        let from = BufReader::new(server.stdout.take().expect("a pipe"));
        let mut editor = Self { server, to, from, n_requests: 0 };
        let offered = editor.ask("initialize", json!({ "capabilities": {} })).expect("an answer");
        assert_eq!(offered["capabilities"]["hoverProvider"], true);
        assert_eq!(offered["capabilities"]["documentFormattingProvider"], true);
        editor.tell("initialized", json!({}));
        editor
    }

    fn write(&mut self, message: &Message) {
        let to = self.to.as_mut().expect("an open pipe");
        message.write(to).expect("the server listens");
        to.flush().expect("the server listens");
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.write(&Message::Notification(Notification::new(method.to_owned(), params)));
    }

    fn read(&mut self) -> Message {
        Message::read(&mut self.from).expect("a message").expect("the server goes on")
    }

    /// The server's answer, or the code of its error.
    fn ask(&mut self, method: &str, params: Value) -> Result<Value, i32> {
        self.n_requests += 1;
        let id = RequestId::from(self.n_requests);
        self.write(&Message::Request(Request::new(id.clone(), method.to_owned(), params)));
        let Message::Response(response) = self.read() else { panic!("no answer to {method}") };
        assert_eq!(response.id, id);
        response.response_result.map_err(|error| error.code)
    }

    /// Opens or changes the file, and reads what the server says to that: each finding's first line and columns, and its message.
    fn type_in(&mut self, version: i32, text: &str) -> Vec<(u64, u64, u64, String)> {
        if version == 1 {
            let item = json!({ "uri": FILE, "languageId": "sled", "version": version, "text": text });
            self.tell("textDocument/didOpen", json!({ "textDocument": item }));
        } else {
            let document = json!({ "uri": FILE, "version": version });
            let changes = json!([{ "text": text }]);
            self.tell(
                "textDocument/didChange",
                json!({ "textDocument": document, "contentChanges": changes }),
            );
        }
        let params = self.findings();
        assert_eq!(params["version"], version);
        let number = |value: &Value| value.as_u64().expect("a number");
        let finding = |found: &Value| {
            let (start, end) = (&found["range"]["start"], &found["range"]["end"]);
            let message = found["message"].as_str().expect("a text").to_owned();
            (number(&start["line"]), number(&start["character"]), number(&end["character"]), message)
        };
        params["diagnostics"].as_array().expect("a list").iter().map(finding).collect()
    }

    fn findings(&mut self) -> Value {
        let Message::Notification(told) = self.read() else { panic!("no findings") };
        assert_eq!(told.method, "textDocument/publishDiagnostics");
        assert_eq!(told.params["uri"], FILE);
        told.params
    }

    fn hover(&mut self, line: u32) -> Value {
        let at = json!({ "textDocument": { "uri": FILE }, "position": { "line": line, "character": 4 } });
        self.ask("textDocument/hover", at).expect("an answer")
    }

    fn format(&mut self) -> Value {
        let options = json!({ "tabSize": 4, "insertSpaces": true });
        self.ask("textDocument/formatting", json!({ "textDocument": { "uri": FILE }, "options": options }))
            .expect("an answer")
    }
}

const WRONG: &str = "// 𝛼 and β\nlearner sum(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; 1] {\n    for sample in data { /* */\n";
const CROOKED: &str = "learner sum(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; 1] {\nfor sample in data {\ntheta[0]   +=  y;\n}\n}\n";
const MISSPELT: &str = "// 𝛼\nlearner sum(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; 1] {\n    for sample in data { thetta[0] += y; }\n}\n";

#[test]
fn errors_formatting_and_costs() {
    let mut editor = Editor::start();
    assert!(!editor.type_in(1, WRONG).is_empty(), "half a program has errors");
    assert_eq!((editor.hover(1), editor.format()), (Value::Null, Value::Null), "and neither cost nor form");

    let findings = editor.type_in(2, MISSPELT);
    let [(2, 25, 31, message)] = &findings[..] else { panic!("{findings:?}") };
    assert!(message.contains("`thetta` is not defined") && message.contains("did you mean `theta`?"));

    assert_eq!(editor.type_in(3, CROOKED), [], "a correct program has none");
    let edits = editor.format();
    let straight = edits[0]["newText"].as_str().expect("a text").to_owned();
    assert!(straight.contains("\n    for sample in data {\n        theta[0] += y;\n    }\n"), "{straight}");
    assert_eq!(edits[0]["range"]["start"], json!({ "line": 0, "character": 0 }));
    assert_eq!(edits[0]["range"]["end"], json!({ "line": 5, "character": 0 }), "the whole text");
    assert_eq!(editor.type_in(4, &straight), []);
    assert_eq!(editor.format(), json!([]), "the usual form stays as it is");

    let cost = editor.hover(2)["contents"]["value"].as_str().expect("a cost").to_owned();
    assert!(cost.contains("states") && cost.contains("2 features, 1 label, fix:8.8"), "{cost}");
    assert_ne!(editor.hover(1)["contents"]["value"], cost, "lines have costs of their own");
    assert_eq!(editor.hover(40), Value::Null, "there is no such line");

    assert_eq!(editor.ask("textDocument/definition", json!({})), Err(-32601));
    assert_eq!(editor.ask("textDocument/hover", json!({})), Err(-32602));
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": FILE } }));
    assert_eq!(editor.findings()["diagnostics"], json!([]));
    assert_eq!(editor.hover(2), Value::Null, "the file is closed");

    assert_eq!(editor.ask("shutdown", Value::Null), Ok(Value::Null));
    editor.tell("exit", Value::Null);
    drop(editor.to.take());
    assert!(editor.server.wait().expect("an end").success());
}

/// An editor that crashes takes its server with it.
#[test]
fn the_server_ends_with_its_editor() {
    let mut editor = Editor::start();
    drop(editor.to.take());
    assert!(editor.server.wait().expect("an end").success());
}
