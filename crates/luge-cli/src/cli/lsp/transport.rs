//! Messages over standard input and output, with a limit on their size.

use std::{
    io::{self, BufRead, Read},
    thread::{self, JoinHandle},
};

use lsp_server::{Connection, Message};

/// The longest message, in bytes.
const MAX_MESSAGE: u64 = 64 << 20;

/// The longest header line, in bytes.
const MAX_LINE: u64 = 1 << 12;

/// A thread that reads or writes.
type Thread = JoinHandle<io::Result<()>>;

/// A connection over standard input and output, and the threads that read and write.
pub(super) fn stdio() -> (Connection, [Thread; 2]) {
    let (server, Connection { sender, receiver }) = Connection::memory();
    let reader = thread::spawn(move || {
        let mut from = io::stdin().lock();
        while let Some(message) = read(&mut from)? {
            let last = matches!(&message, Message::Notification(said) if said.method == "exit");
            // The server may have ended.
            if sender.send(message).is_err() || last {
                break;
            }
        }
        Ok(())
    });
    let writer = thread::spawn(move || {
        let mut to = io::stdout().lock();
        receiver.into_iter().try_for_each(|message| message.write(&mut to))
    });
    (server, [reader, writer])
}

/// Reads the next message; `None` at the end of input. Its length is checked before it is read.
fn read(from: &mut impl BufRead) -> io::Result<Option<Message>> {
    let wrong = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let (mut text, mut length) = (Vec::new(), 0);
    loop {
        let start = text.len();
        if from.by_ref().take(MAX_LINE).read_until(b'\n', &mut text)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&text[start..]).trim_end().to_owned();
        if !text.ends_with(b"\n") || text.len() as u64 > 8 * MAX_LINE {
            return Err(wrong("the header of a message is too long".to_owned()));
        }
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("Content-Length")
        {
            length = value.trim().parse().map_err(|_| wrong(format!("`{line}` is not a length")))?;
        }
    }
    if length > MAX_MESSAGE {
        return Err(wrong(format!("a message of {length} bytes, but at most {MAX_MESSAGE} are read")));
    }
    if from.by_ref().take(length).read_to_end(&mut text)? as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Message::read(&mut &text[..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_within_their_limits() {
        let exit = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let said = |head: &str| read(&mut format!("{head}\r\n\r\n{exit}").as_bytes());
        let n = exit.len();
        assert!(matches!(said(&format!("Content-Length: {n}")), Ok(Some(Message::Notification(_)))));
        assert!(matches!(read(&mut &b""[..]), Ok(None)));
        for head in [
            "Content-Length: 99999999999999",
            "Content-Length: 999999999999999999999999",
            "Content-Length: 67108865",
            "Content-Length: -1",
            "Content-Length: 34",
            "Nothing: 1",
            &"x".repeat(100_000),
        ] {
            assert!(said(head).is_err(), "{head}");
        }
    }
}
