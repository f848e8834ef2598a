//! Decodes the bytes of a table: UTF-8 with or without a byte order mark, and UTF-16 as spreadsheets save it.

/// Decodes bytes; the error is the offset of the first byte that is not text.
///
/// # Errors
/// If they are neither UTF-8 nor UTF-16.
pub fn decode(bytes: Vec<u8>) -> Result<String, usize> {
    match wide(&bytes) {
        Some(unit) => decode_wide(&bytes, unit),
        None => String::from_utf8(bytes).map_err(|error| error.utf8_error().valid_up_to()),
    }
}

/// Removes the byte order mark.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// How two bytes become a code unit.
type Unit = fn([u8; 2]) -> u16;

/// UTF-16 is recognised by its byte order mark, or because every other one of the first bytes is zero.
fn wide(bytes: &[u8]) -> Option<Unit> {
    match bytes {
        [0xff, 0xfe, ..] | [1..=255, 0, 1..=255, 0, ..] => Some(u16::from_le_bytes),
        [0xfe, 0xff, ..] | [0, 1..=255, 0, 1..=255, ..] => Some(u16::from_be_bytes),
        _ => None,
    }
}

fn decode_wide(bytes: &[u8], unit: Unit) -> Result<String, usize> {
    let (pairs, []) = bytes.as_chunks() else { return Err(bytes.len() - 1) };
    let units = pairs.iter().map(|&pair| unit(pair));
    let mut offset = 0;
    let mut text = String::with_capacity(bytes.len() / 2);
    for decoded in char::decode_utf16(units) {
        let c = decoded.map_err(|_| offset)?;
        offset += 2 * c.len_utf16();
        text.push(c);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, mark: bool, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        let mark = mark.then_some(0xfeff);
        mark.into_iter().chain(text.encode_utf16()).flat_map(bytes).collect()
    }

    #[test]
    fn every_way_to_save_gives_the_same_text() {
        let text = "größe,y\n1,2\n";
        let plain = |bytes: Vec<u8>| decode(bytes).map(|text| without_mark(&text).to_owned());
        assert_eq!(plain(text.into()), Ok(text.to_owned()));
        assert_eq!(plain(format!("\u{feff}{text}").into()), Ok(text.to_owned()));
        for mark in [true, false] {
            assert_eq!(plain(utf16(text, mark, u16::to_le_bytes)), Ok(text.to_owned()));
            assert_eq!(plain(utf16(text, mark, u16::to_be_bytes)), Ok(text.to_owned()));
        }
    }

    #[test]
    fn other_bytes_are_refused_at_their_place() {
        assert_eq!(decode(b"gr\xf6\xdfe,y\n".to_vec()), Err(2));
        assert_eq!(decode(b"\xff\xfea\0b".to_vec()), Err(4));
        assert_eq!(decode(b"\xff\xfea\0\0\xd8".to_vec()), Err(4));
        assert_eq!(decode(Vec::new()), Ok(String::new()));
    }
}
