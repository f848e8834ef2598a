//! f_theta written down once more, without a graph.

/// What the network that `--primary` describes puts out for one sample.
pub(crate) fn prediction(primary: &str, theta: &[f64], x: &[f64], n_labels: usize) -> Vec<f64> {
    let (kind, number) = primary.split_once(':').unwrap_or((primary, ""));
    match kind {
        "linear" => layers(&[x.len(), n_labels], theta, x),
        "mlp" => {
            let widths: Vec<usize> = number.split('-').map(|w| w.parse().expect("a width")).collect();
            layers(&widths, theta, x)
        }
        "prototypes" => nearest(theta, x, n_labels),
        "tree" => leaf(number.parse().expect("a depth"), theta, x, n_labels),
        "parity" => vec![theta.iter().zip(x).map(|(t, x)| t * x).sum::<f64>() % 2.0],
        other => panic!("{other} is no network that ships"),
    }
}

/// Layer after layer, unit after unit, the bias first, ReLU between the layers.
fn layers(widths: &[usize], theta: &[f64], x: &[f64]) -> Vec<f64> {
    let mut weights = theta.iter();
    let mut values = x.to_vec();
    for (layer, &width) in widths[1..].iter().enumerate() {
        let next: Vec<f64> = (0..width)
            .map(|_| {
                let bias = *weights.next().expect("a bias");
                values.iter().fold(bias, |sum, v| sum + v * weights.next().expect("a weight"))
            })
            .collect();
        let last = layer + 2 == widths.len();
        values = next.into_iter().map(|v| if last { v } else { v.max(0.0) }).collect();
    }
    values
}

/// The labels of the nearest stored sample, the first of several.
fn nearest(theta: &[f64], x: &[f64], n_labels: usize) -> Vec<f64> {
    let distance = |stored: &[f64]| stored.iter().zip(x).map(|(p, x)| (p - x) * (p - x)).sum::<f64>();
    let stored: Vec<&[f64]> = theta.chunks(x.len() + n_labels).collect();
    let nearer = |best: usize, k: usize| if distance(stored[k]) < distance(stored[best]) { k } else { best };
    stored[(1..stored.len()).fold(0, nearer)][x.len()..].to_vec()
}

/// The labels of the leaf that one walks down to.
fn leaf(depth: u32, theta: &[f64], x: &[f64], n_labels: usize) -> Vec<f64> {
    let n_nodes = (1_usize << depth) - 1;
    let (nodes, leaves) = theta.split_at(n_nodes * (x.len() + 1));
    let mut node = 0;
    while node < n_nodes {
        let unit = &nodes[node * (x.len() + 1)..][..=x.len()];
        let asked = unit[1..].iter().zip(x).fold(unit[0], |sum, (w, x)| sum + w * x);
        node = 2 * node + 1 + usize::from(asked > 0.0);
    }
    leaves[(node - n_nodes) * n_labels..][..n_labels].to_vec()
}
