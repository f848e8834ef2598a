// Lines of equal height in a grid of numbers: marching squares.

/** Between two corners, where the height is crossed. */
function crossing(a, b, level) {
  return a === b ? 0.5 : (level - a) / (b - a);
}

/** The pieces of the line at one height through `n` by `n` values, row by row: `[[x1, y1, x2, y2]]` in steps of the grid. */
export function contourPieces(values, n, level) {
  const pieces = [];
  for (let j = 0; j + 1 < n; j++) {
    for (let i = 0; i + 1 < n; i++) {
      const [a, b, c, d] = [values[j * n + i], values[j * n + i + 1], values[(j + 1) * n + i + 1], values[(j + 1) * n + i]];
      if (![a, b, c, d].every(Number.isFinite)) continue;
      const cuts = [];
      if (a > level !== b > level) cuts.push([i + crossing(a, b, level), j]);
      if (b > level !== c > level) cuts.push([i + 1, j + crossing(b, c, level)]);
      if (d > level !== c > level) cuts.push([i + crossing(d, c, level), j + 1]);
      if (a > level !== d > level) cuts.push([i, j + crossing(a, d, level)]);
      for (let k = 0; k + 1 < cuts.length; k += 2) pieces.push([...cuts[k], ...cuts[k + 1]]);
    }
  }
  return pieces;
}

/** The same as the path of a drawing; `x` and `y` take places of the grid to the drawing. */
export function contourPath(values, n, level, x, y) {
  return contourPieces(values, n, level).map(([x1, y1, x2, y2]) => `M${x(x1).toFixed(1)} ${y(y1).toFixed(1)}L${x(x2).toFixed(1)} ${y(y2).toFixed(1)}`).join("");
}
