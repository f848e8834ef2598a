//! The files of the page, embedded in the program.

/// A file of the page.
pub(super) struct Asset {
    pub(super) path: &'static str,
    pub(super) bytes: &'static [u8],
}

macro_rules! assets {
    ($($name:literal)*) => {
        &[$(Asset { path: concat!("/", $name), bytes: include_bytes!(concat!("assets/", $name)) }),*]
    };
}

/// All files that are served; modules are in the order of their imports.
pub(super) const ASSETS: &[Asset] = assets! {
    "index.html" "explain.html" "stream.html" "style.css" "icon.svg"
    "ask.js" "draw.js" "captions.js" "state.js" "contour.js" "export.js" "result.js" "variables.js" "tapes.js"
    "simplex.js" "surface.js" "edges.js" "loss.js" "network.js" "spacetime.js" "boundary.js" "source.js"
    "settings.js" "chooser.js" "controls.js" "link.js" "stream_captions.js" "stream.js" "corners.js"
    "lesson_figures.js" "ordinary.js" "tape_figure.js" "explain.js" "tour.js" "main.js"
};

impl Asset {
    /// Its media type.
    #[cfg(feature = "server")]
    pub(super) fn media(&self) -> &'static str {
        match self.path.rsplit('.').next() {
            Some("html") => "text/html; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            _ => "image/svg+xml",
        }
    }
}

/// The file at a path.
pub(super) fn at(path: &str) -> Option<&'static Asset> {
    let path = if path == "/" { "/index.html" } else { path };
    ASSETS.iter().find(|asset| asset.path == path)
}
