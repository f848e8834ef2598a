//! Requests to `luge lab` and `luge lsp`, from browsers, editors and other programs.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// A lab that ends with the test.
struct Lab {
    process: Child,
    port: u16,
}

impl Lab {
    fn open() -> Self {
        let mut luge = Command::new(env!("CARGO_BIN_EXE_luge"));
        luge.args(["lab", "--no-open"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = luge.spawn().expect("a lab");
        let mut line = String::new();
        let output = process.stdout.as_mut().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("an address");
        let port = line.trim().trim_end_matches('/').rsplit(':').next().and_then(|port| port.parse().ok());
        Self { process, port: port.unwrap_or_else(|| panic!("no port in {line:?}")) }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a limit");
        stream
    }

    /// The status of the answer, `None` if the connection is closed without one. `HOST` is replaced by the lab's own.
    fn ask(&self, request: &str) -> Option<u16> {
        let mut stream = self.connect();
        let request = request.replace("HOST", &format!("127.0.0.1:{}", self.port));
        // The lab may have closed the connection before it has read everything.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).ok()?;
        String::from_utf8_lossy(&answer[9..]).parse().ok()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const WHOLE: &str = "GET / HTTP/1.1\r\nHost: HOST\r\n\r\n";

#[test]
fn the_lab_answers_its_own_page_alone() {
    let lab = Lab::open();
    assert_eq!(lab.ask(WHOLE), Some(200));
    let long = format!("GET / HTTP/1.1\r\nHost: HOST\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    let requests = [
        "GET / HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: HOST\r\nHost: evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: evil.example\r\nHost: HOST\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: HOST.evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: HOST\r\nOrigin: http://evil.example\r\n\r\n",
        "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 99999999999999\r\n\r\n",
        "GET /../../etc/passwd HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "\0\0\0\0\r\n\r\n",
        "GET / HTTP/9.9\r\nHost: HOST\r\n\r\n",
        &long,
    ];
    for request in requests {
        let status = lab.ask(request);
        assert!(status.is_none_or(|status| status >= 400), "{status:?} to {request:.200}");
    }
    assert_eq!(lab.ask(WHOLE), Some(200));
    println!("server: {} requests refused", requests.len());
}

/// Connections that say nothing make room for others: more of them than the lab has room for, and it answers before
/// the ten seconds are over that a single one is given.
#[test]
fn half_open_connections_do_not_block_the_lab() {
    let lab = Lab::open();
    assert_eq!(lab.ask(WHOLE), Some(200));
    let silent: Vec<TcpStream> = (0..300).map(|_| lab.connect()).collect();
    let begun = Instant::now();
    assert_eq!(lab.ask(WHOLE), Some(200));
    assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
    println!("server: answered beside {} silent connections", silent.len());
}

/// A message that claims to be larger than memory ends in words.
#[test]
fn the_language_server_reads_no_message_that_is_too_long() {
    let heads = [
        "Content-Length: 99999999999999\r\n\r\n{}",
        "Content-Length: 18446744073709551615\r\n\r\n{}",
        "Content-Length: -1\r\n\r\n{}",
        "Content-Length: x\r\n\r\n{}",
        "Content-Length: 2\r\nContent-Length: 99999999999999\r\n\r\n{}",
        &"x".repeat(1 << 20),
    ];
    for head in heads {
        let mut luge = Command::new(env!("CARGO_BIN_EXE_luge"));
        luge.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = luge.spawn().expect("a server");
        // The server may have ended before it has read everything.
        let _ = child.stdin.take().expect("its input").write_all(head.as_bytes());
        let output = child.wait_with_output().expect("its end");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{head:.60}: {:?} {said}", output.status);
        assert!(said.contains("the connection to the editor was lost"), "{head:.60}: {said}");
    }
    println!("language server: {} heads refused", heads.len());
}
