//! The files of the page, embedded in the program.

/// A file of the page.
pub(super) struct Asset {
    pub(super) path: &'static str,
    pub(super) media: &'static str,
    pub(super) bytes: &'static [u8],
}

macro_rules! asset {
    ($name:literal, $media:literal) => {
        Asset { path: concat!("/", $name), media: $media, bytes: include_bytes!(concat!("assets/", $name)) }
    };
}

/// Everything that is served, and nothing else.
pub(super) const ASSETS: &[Asset] = &[
    asset!("index.html", "text/html; charset=utf-8"),
    asset!("explain.html", "text/html; charset=utf-8"),
    asset!("stream.html", "text/html; charset=utf-8"),
    asset!("style.css", "text/css; charset=utf-8"),
    asset!("icon.svg", "image/svg+xml"),
    asset!("ask.js", "text/javascript; charset=utf-8"),
    asset!("draw.js", "text/javascript; charset=utf-8"),
    asset!("captions.js", "text/javascript; charset=utf-8"),
    asset!("state.js", "text/javascript; charset=utf-8"),
    asset!("contour.js", "text/javascript; charset=utf-8"),
    asset!("export.js", "text/javascript; charset=utf-8"),
    asset!("result.js", "text/javascript; charset=utf-8"),
    asset!("variables.js", "text/javascript; charset=utf-8"),
    asset!("tapes.js", "text/javascript; charset=utf-8"),
    asset!("simplex.js", "text/javascript; charset=utf-8"),
    asset!("surface.js", "text/javascript; charset=utf-8"),
    asset!("edges.js", "text/javascript; charset=utf-8"),
    asset!("loss.js", "text/javascript; charset=utf-8"),
    asset!("network.js", "text/javascript; charset=utf-8"),
    asset!("spacetime.js", "text/javascript; charset=utf-8"),
    asset!("boundary.js", "text/javascript; charset=utf-8"),
    asset!("source.js", "text/javascript; charset=utf-8"),
    asset!("settings.js", "text/javascript; charset=utf-8"),
    asset!("chooser.js", "text/javascript; charset=utf-8"),
    asset!("controls.js", "text/javascript; charset=utf-8"),
    asset!("link.js", "text/javascript; charset=utf-8"),
    asset!("stream_captions.js", "text/javascript; charset=utf-8"),
    asset!("stream.js", "text/javascript; charset=utf-8"),
    asset!("corners.js", "text/javascript; charset=utf-8"),
    asset!("lesson_figures.js", "text/javascript; charset=utf-8"),
    asset!("ordinary.js", "text/javascript; charset=utf-8"),
    asset!("tape_figure.js", "text/javascript; charset=utf-8"),
    asset!("explain.js", "text/javascript; charset=utf-8"),
    asset!("tour.js", "text/javascript; charset=utf-8"),
    asset!("main.js", "text/javascript; charset=utf-8"),
];

/// The file at a path.
pub(super) fn at(path: &str) -> Option<&'static Asset> {
    let path = if path == "/" { "/index.html" } else { path };
    ASSETS.iter().find(|asset| asset.path == path)
}
