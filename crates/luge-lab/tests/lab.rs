//! The lab's server: who may speak to it, what it serves, and what becomes of tabs.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

use luge_lab::{Counts, Lab, MAX_BYTES, MAX_RUNS, MAX_WAITING};
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket, client::IntoClientRequest};

const PATIENCE: Duration = Duration::from_secs(20);
const FOUR: &str = "1RB1LB_1LA0LC_1RZ1LD_1RD0RA";

fn start() -> (SocketAddr, Counts) {
    // As on a small machine.
    luge::run::memory::set_budget(1 << 30);
    let lab = Lab::bind(0).expect("a free port");
    let (address, counts) = (lab.address, lab.counts.clone());
    assert!(address.ip().is_loopback());
    thread::spawn(move || lab.serve());
    (address, counts)
}

/// Status line and the rest of an answer to a raw request.
fn ask(address: SocketAddr, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("a connection");
    // Connections that are kept open end with this.
    stream.set_read_timeout(Some(Duration::from_secs(1))).expect("a timeout");
    stream.write_all(request.as_bytes()).expect("a request");
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|s| s.parse().ok());
    (status.unwrap_or_else(|| panic!("no status in {answer:?}")), answer)
}

fn get(address: SocketAddr, path: &str, host: &str, more: &str) -> (u16, String) {
    ask(address, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n"))
}

/// What a page says to run a machine.
fn opening(text: &str, input: &[String]) -> Value {
    let source = json!({ "name": "your program", "text": text });
    json!({ "do": "open", "job": { "trace": { "source": source, "input": input } } })
}

struct Tab(WebSocket<TcpStream>);

impl Tab {
    fn open(address: SocketAddr) -> Self {
        Self::from(address, &format!("http://{address}")).expect("a socket")
    }

    fn from(address: SocketAddr, origin: &str) -> Result<Self, u16> {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let mut request = format!("ws://{address}/socket").into_client_request().expect("a request");
        request.headers_mut().insert("origin", origin.parse().expect("a header"));
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => Ok(Self(socket)),
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(answer))) => {
                Err(answer.status().as_u16())
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn say(&mut self, command: &Value) {
        self.0.send(Message::text(command.to_string())).expect("a message sent");
    }

    fn run(&mut self, text: &str) {
        self.say(&opening(text, &[]));
    }

    /// The next message of a kind for which a condition holds.
    fn hear(&mut self, kind: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        self.listen(kind, |told| told["kind"] == kind && wanted(told))
    }

    /// The next message for which a condition holds.
    fn listen(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            let Message::Text(text) = self.0.read().expect("a message") else { continue };
            let told: Value = serde_json::from_str(&text).expect("JSON");
            if told["kind"] == "moment" {
                self.say(&json!({ "do": "drawn" }));
            }
            if wanted(&told) {
                return told;
            }
        }
        panic!("never heard {what}");
    }
}

#[test]
fn of_several_wishes_the_last_is_answered_and_the_others_are_dropped() {
    let (address, _) = start();
    let mut tab = Tab::open(address);
    let shipped = tab.hear("catalogue", |_| true)["catalogue"]["shipped"].clone();
    let job = |name: &str| {
        let all = shipped.as_array().expect("programs");
        all.iter().find(|one| one["id"] == name).expect("it ships")["job"].clone()
    };
    // Preparing these takes seconds each.
    for (ticket, name) in ["xor_search", "mlp_backprop", "decision_tree", "mean"].into_iter().enumerate() {
        tab.say(&json!({ "do": "open", "job": job(name), "ticket": ticket }));
    }
    let mut opened = Vec::new();
    while opened.last() != Some(&json!(3)) {
        opened.push(tab.hear("opened", |_| true)["ticket"].clone());
    }
    assert!(opened.len() <= 2, "{opened:?}: those in between are not wanted any more");
    // A refusal says which wish it is about, too.
    tab.say(
        &json!({ "do": "open", "job": { "trace": { "source": { "name": "x", "text": "?" } } }, "ticket": 7 }),
    );
    assert_eq!(tab.hear("refused", |_| true)["ticket"], 7);
}

fn eventually(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_page_and_its_files_are_served_with_a_policy() {
    let (address, _) = start();
    for (path, media) in [("/", "text/html"), ("/main.js", "text/javascript"), ("/style.css", "text/css")] {
        let (status, answer) = get(address, path, &address.to_string(), "");
        assert_eq!(status, 200, "{path}");
        assert!(answer.contains(media), "{path}: {answer}");
        assert!(answer.contains("content-security-policy: default-src 'none'"), "{path}");
        assert!(answer.contains("cross-origin-resource-policy: same-origin"), "{path}");
    }
    let localhost = format!("localhost:{}", address.port());
    assert_eq!(get(address, "/", &localhost, "").0, 200);
}

#[test]
fn foreign_hosts_and_origins_are_refused() {
    let (address, _) = start();
    let own = address.to_string();
    for host in ["evil.example", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example"] {
        assert_eq!(get(address, "/", host, "").0, 403, "{host}");
    }
    assert_eq!(ask(address, "GET / HTTP/1.0\r\n\r\n").0, 403);
    for origin in [
        "http://evil.example",
        "https://127.0.0.1",
        "null",
        &format!("https://{own}"),
        &format!("http://{own}.evil.example"),
    ] {
        assert_eq!(get(address, "/", &own, &format!("Origin: {origin}\r\n")).0, 403, "{origin}");
        assert_eq!(Tab::from(address, origin).err(), Some(403), "{origin}");
    }
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let request = format!("GET /socket HTTP/1.1\r\nHost: {own}\r\n{upgrade}\r\n");
    assert_eq!(ask(address, &request).0, 403, "a socket without an origin");
}

#[test]
fn path_tricks_lead_nowhere() {
    let (address, _) = start();
    let own = address.to_string();
    for path in [
        "/../Cargo.toml",
        "/%2e%2e/Cargo.toml",
        "/..%2f..%2fetc/passwd",
        "//etc/passwd",
        "/etc/passwd",
        "/./main.js",
        "/assets/main.js",
        "/main.js/",
        "/main.js%00.html",
        "/MAIN.JS",
        "/index.html/../../Cargo.toml",
        "/\\..\\Cargo.toml",
    ] {
        let (status, answer) = get(address, path, &own, "");
        assert!(status == 404 || (status == 400 && !answer.contains("[package]")), "{path}: {status}");
    }
    assert_eq!(
        ask(
            address,
            &format!("POST / HTTP/1.1\r\nHost: {own}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        )
        .0,
        405
    );
}

#[test]
fn oversized_bodies_and_messages_are_refused_with_a_reason() {
    let (address, _) = start();
    let length = MAX_BYTES + 1;
    let request = format!(
        "POST / HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let (status, answer) = ask(address, &request);
    assert_eq!(status, 413);
    assert!(answer.contains("at most 1 MiB"), "{answer}");
    let mut tab = Tab::open(address);
    tab.run(&"x".repeat(MAX_BYTES));
    let refused = tab.hear("refused", |_| true);
    assert!(
        refused["refusal"]["message"].as_str().is_some_and(|m| m.contains("at most 1048576 bytes")),
        "{refused}"
    );
    // The tab still works.
    tab.run(FOUR);
    tab.hear("moment", |told| told["moment"]["step"] == 0);
}

#[test]
fn a_tab_plays_steps_back_jumps_and_stops_at_breakpoints() {
    let (address, _) = start();
    let mut tab = Tab::open(address);
    let catalogue = tab.hear("catalogue", |_| true);
    assert!(catalogue["catalogue"]["shipped"].as_array().is_some_and(|all| all.len() > 10));
    tab.run(FOUR);
    let opened = tab.hear("opened", |_| true);
    assert_eq!(opened["opening"]["engine"], "exact");
    let at = |step: u64| move |told: &Value| told["moment"]["step"] == step;
    assert_eq!(tab.hear("moment", at(0))["moment"]["end"]["step"], 107);
    tab.say(&json!({ "do": "play", "speed": null }));
    let end = tab.hear("moment", at(107));
    assert_eq!(end["moment"]["phase"], "halted");
    tab.say(&json!({ "do": "step", "by": -1 }));
    let before = tab.hear("moment", at(106));
    assert_eq!(before["moment"]["phase"], "running");
    tab.hear("around", |told| told["around"]["step"] == 106);
    tab.say(&json!({ "do": "seek", "step": 0 }));
    tab.hear("moment", at(0));
    tab.say(&json!({ "do": "break", "states": [3], "loss": null }));
    tab.say(&json!({ "do": "play", "speed": null }));
    let hit = tab.hear("moment", |told| told["hit"] == "state");
    assert_eq!(hit["moment"]["state"], 3);
    tab.say(&json!({ "do": "break", "states": [], "loss": 7000.0 }));
    tab.say(&json!({ "do": "play", "speed": null }));
    let hit = tab.hear("moment", |told| told["hit"] == "loss");
    assert_eq!(hit["moment"]["step"], 107);
}

#[test]
fn what_is_wrong_is_said_at_its_place() {
    let (address, _) = start();
    let mut tab = Tab::open(address);
    tab.run("machine \"x\"\ntape t: 0 1 blank 0\nstart: a\na:\n  2 -> 1, R, a\n");
    let refused = tab.hear("refused", |_| true);
    assert_eq!(refused["refusal"]["part"], "source");
    assert_eq!(refused["refusal"]["findings"][0]["line"], 5, "{refused}");
    for wrong in [json!({ "do": "fly" }), json!([]), json!({ "do": "seek", "step": -1 })] {
        tab.say(&wrong);
        let refused = tab.hear("refused", |_| true);
        assert!(refused["refusal"]["message"].as_str().is_some_and(|m| m.starts_with("not a command")));
    }
}

#[test]
fn twenty_tabs_run_at_once_and_each_on_its_own() {
    let (address, counts) = start();
    let tabs: Vec<_> = (0..20_u64)
        .map(|i| {
            thread::spawn(move || {
                let mut tab = Tab::open(address);
                tab.run(FOUR);
                tab.say(&json!({ "do": "seek", "step": i }));
                let moment = tab.hear("moment", |told| told["moment"]["step"] == i);
                (tab, moment["moment"]["loss"].as_f64())
            })
        })
        .collect();
    let tabs: Vec<_> = tabs.into_iter().map(|tab| tab.join().expect("a tab")).collect();
    assert_eq!((counts.tabs(), counts.runs()), (20, 20));
    assert!(tabs.iter().all(|(_, loss)| loss.is_some()));
    drop(tabs);
    eventually("tabs are counted down", || counts.tabs() == 0 && counts.runs() == 0);
}

#[test]
fn a_killed_tab_frees_its_run() {
    let (address, counts) = start();
    let mut tab = Tab::open(address);
    tab.run("1RB1RB_1LA1LA");
    tab.say(&json!({ "do": "play", "speed": null }));
    tab.hear("moment", |told| told["moment"]["step"].as_u64() > Some(1_000_000));
    assert_eq!(counts.runs(), 1);
    // No farewell: the connection is just gone.
    tab.0.get_ref().shutdown(std::net::Shutdown::Both).expect("a connection");
    eventually("the run is freed", || counts.tabs() == 0 && counts.runs() == 0);
}

#[test]
fn too_many_runs_are_refused_until_one_is_closed() {
    let (address, counts) = start();
    let mut tabs: Vec<Tab> = (0..MAX_RUNS)
        .map(|_| {
            let mut tab = Tab::open(address);
            tab.run(FOUR);
            tab.hear("opened", |_| true);
            tab
        })
        .collect();
    assert_eq!(counts.runs(), MAX_RUNS);
    let mut more = Tab::open(address);
    more.run(FOUR);
    let refused = more.hear("refused", |_| true);
    assert!(refused["refusal"]["message"].as_str().is_some_and(|m| m.contains("close a tab")), "{refused}");
    tabs.pop();
    eventually("a run is freed", || counts.runs() < MAX_RUNS);
    more.run(FOUR);
    more.hear("opened", |_| true);
}

#[test]
fn an_input_that_is_too_long_and_an_endless_seek_have_answers() {
    let (address, _) = start();
    let mut tab = Tab::open(address);
    let input = "1".repeat(100_000);
    tab.say(&opening(FOUR, &[input]));
    let refused = tab.hear("refused", |_| true);
    assert_eq!(refused["refusal"]["part"], "input");
    tab.run("1RB1RB_1LA1LA");
    tab.say(&json!({ "do": "seek", "step": u64::MAX }));
    tab.hear("moment", |told| told["busy"] == true && told["moment"]["step"].as_u64() > Some(0));
    tab.say(&json!({ "do": "seek", "step": 5 }));
    tab.hear("moment", |told| told["moment"]["step"] == 5 && told["busy"] == false);
}

/// Requests that come too fast do not pile up: one run is prepared, a few wait, and the others are refused.
#[test]
fn opens_do_not_pile_up() {
    let (address, _) = start();
    let mut tab = Tab::open(address);
    for _ in 0..MAX_WAITING * 8 {
        tab.run(FOUR);
    }
    let refused = tab.hear("refused", |_| true);
    assert!(refused["refusal"]["message"].as_str().is_some_and(|m| m.contains("wait already")), "{refused}");
    // The tab still works.
    eventually_opened(&mut tab);
}

fn eventually_opened(tab: &mut Tab) {
    tab.hear("opened", |_| true);
    // While others wait a wish may be dropped, and a run that opens replaces the one that was sought in.
    loop {
        tab.say(&json!({ "do": "seek", "step": 3 }));
        let there = |told: &Value| told["kind"] == "moment" && told["moment"]["step"] == 3;
        let told =
            tab.listen("step 3", |told| there(told) || told["kind"] == "opened" || told["kind"] == "refused");
        if there(&told) {
            return;
        }
    }
}

/// A request that never ends is cut off, and others are served meanwhile.
#[test]
fn half_a_request_is_not_waited_for() {
    let (address, _) = start();
    let mut half = TcpStream::connect(address).expect("a connection");
    half.write_all(b"GET / HTTP/1.1\r\nHost: ").expect("half a request");
    assert_eq!(get(address, "/", &address.to_string(), "").0, 200);
    half.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let mut answer = Vec::new();
    // The server closes the connection; waiting in vain would be an error here.
    half.read_to_end(&mut answer).expect("the end of the connection");
}

/// A run that needs more memory than there is ends with words, and another tab does not notice.
#[test]
fn a_run_that_is_too_large_ends_alone() {
    let (address, _) = start();
    let (mut large, mut small) = (Tab::open(address), Tab::open(address));
    small.run(FOUR);
    small.hear("opened", |_| true);
    let source = json!({ "name": "your program", "text": FOUR });
    let options = json!({ "cells": 1 << 24, "manner": { "engine": "dense" } });
    large.say(&json!({ "do": "open", "job": { "trace": { "source": source, "options": options } } }));
    large.hear("refused", |_| true);
    large.run(FOUR);
    eventually_opened(&mut large);
    small.say(&json!({ "do": "seek", "step": 5 }));
    small.hear("moment", |told| told["moment"]["step"] == 5);
}
