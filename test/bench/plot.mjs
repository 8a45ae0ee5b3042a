/** Cost of one call against the number of tools, both axes logarithmic, as an SVG of its own. */
export function plot(curve) {
  const width = 640;
  const height = 360;
  const box = { left: 70, right: 620, top: 40, bottom: 300 };
  const costs = curve.flatMap(({ ours, sdk }) => [ours, sdk]);
  const range = {
    low: 10 ** Math.floor(Math.log10(Math.min(...costs))),
    high: 10 ** Math.ceil(Math.log10(Math.max(...costs))),
  };
  const scale = (value, low, high, from, to) =>
    from + ((Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low))) * (to - from);
  const x = (tools) => scale(tools, curve[0].tools, curve.at(-1).tools, box.left, box.right);
  const y = (cost) => scale(cost, range.low, range.high, box.bottom, box.top);
  const line = (name, colour) =>
    `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${curve.map((each) => `${x(each.tools).toFixed(1)},${y(each[name]).toFixed(1)}`).join(" ")}"/>` +
    curve
      .map(
        (each) => `<circle cx="${x(each.tools).toFixed(1)}" cy="${y(each[name]).toFixed(1)}" r="3" fill="${colour}"/>`,
      )
      .join("");
  const ticks = [];
  for (let cost = range.low; cost <= range.high; cost *= 10)
    ticks.push(
      `<line x1="${box.left}" x2="${box.right}" y1="${y(cost).toFixed(1)}" y2="${y(cost).toFixed(1)}" stroke="#ddd"/>` +
        `<text x="${box.left - 8}" y="${(y(cost) + 4).toFixed(1)}" text-anchor="end">${cost >= 1000 ? `${cost / 1000} ms` : `${cost} µs`}</text>`,
    );
  const labels = curve.map(
    ({ tools }) => `<text x="${x(tools).toFixed(1)}" y="${box.bottom + 20}" text-anchor="middle">${tools}</text>`,
  );
  const last = curve.at(-1);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="${box.left}" y="22" font-size="14">Discovery and one call over stdio, median</text>
${ticks.join("\n")}
${labels.join("\n")}
<text x="${(box.left + box.right) / 2}" y="${box.bottom + 42}" text-anchor="middle">tools of the server</text>
${line("sdk", "#b45309")}
${line("ours", "#1d4ed8")}
<text x="${box.right - 8}" y="${(y(last.sdk) - 10).toFixed(1)}" text-anchor="end" fill="#b45309">official SDK</text>
<text x="${box.right - 8}" y="${(y(last.ours) - 10).toFixed(1)}" text-anchor="end" fill="#1d4ed8">rpi-mcp-adapter</text>
</svg>
`;
}
