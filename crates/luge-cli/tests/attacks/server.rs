//! What a browser, or somebody who is none, sends to `luge lab` and `luge lsp`.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// A lab that ends with the test.
struct Lab(Child, u16);

impl Lab {
    fn open() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_luge"))
            .args(["lab", "--no-open"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a lab");
        let mut line = String::new();
        let out = child.stdout.take().expect("its output");
        let mut out = BufReader::new(out);
        let port = loop {
            line.clear();
            assert!(out.read_line(&mut line).expect("a line") > 0, "the lab says no address");
            let after = line.split("127.0.0.1:").nth(1).or_else(|| line.split("localhost:").nth(1));
            let digits =
                after.map(|after| after.chars().take_while(char::is_ascii_digit).collect::<String>());
            if let Some(port) = digits.and_then(|digits| digits.parse().ok()) {
                break port;
            }
        };
        Self(child, port)
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.1)).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
        stream
    }

    /// The status of the answer; 0 if there is none.
    fn status(&self, request: &str) -> u16 {
        let mut stream = self.connect();
        stream.write_all(request.replace("PORT", &self.1.to_string()).as_bytes()).expect("a request");
        let mut answer = [0; 12];
        match stream.read_exact(&mut answer) {
            Ok(()) => String::from_utf8_lossy(&answer[9..]).parse().expect("a status"),
            Err(_) => 0,
        }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const WHOLE: &str = "GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n";

#[test]
fn the_lab_answers_its_own_page_alone() {
    let lab = Lab::open();
    assert_eq!(lab.status(WHOLE), 200);
    let long = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    let refused = [
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nHost: evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: evil.example\r\nHost: 127.0.0.1:PORT\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nOrigin: http://evil.example\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 99999999999999\r\n\r\n",
        "GET /../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
        &long,
    ];
    for request in refused {
        let status = lab.status(request);
        assert!(!(200..300).contains(&status), "{status} to {}", &request[..request.len().min(200)]);
    }
    assert_eq!(lab.status(WHOLE), 200);
    println!("server: {} requests refused", refused.len());
}

/// Connections that say nothing make room: others need not wait for ten seconds.
#[test]
fn half_open_connections_do_not_block_the_lab() {
    let lab = Lab::open();
    let silent: Vec<TcpStream> = (0..300).map(|_| lab.connect()).collect();
    let begun = Instant::now();
    assert_eq!(lab.status(WHOLE), 200);
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    println!("server: {} silent connections, answered after {:?}", silent.len(), begun.elapsed());
}

/// A message that claims to be larger than memory ends in words.
#[test]
fn the_language_server_reads_no_message_that_is_too_long() {
    for head in
        ["Content-Length: 99999999999999", "Content-Length: 18446744073709551615", "Content-Length: x"]
    {
        let mut child = Command::new(env!("CARGO_BIN_EXE_luge"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a server");
        let mut stdin = child.stdin.take().expect("its input");
        let _ = stdin.write_all(format!("{head}\r\n\r\n{{}}").as_bytes());
        drop(stdin);
        let output = child.wait_with_output().expect("its end");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{head}: {:?} {said}", output.status);
        assert!(said.contains("the conversation with the editor broke off"), "{head}: {said}");
    }
}
