/**
 * Line charts as SVG for the docs. They have no scripts and no fonts, and are readable on light and dark pages. Every
 * text is escaped and every point stays inside the frame, because both come from measurements.
 */

export interface Axis {
  readonly label: string;
  readonly min: number;
  readonly max: number;
  /** A logarithmic axis begins above 0. */
  readonly scale: 'linear' | 'log';
  readonly ticks: readonly number[];
  readonly format: (value: number) => string;
}

export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** A highlighted range of the x-axis. */
export interface Band {
  readonly label: string;
  readonly from: number;
  readonly to: number;
}

export interface LineChart {
  readonly title: string;
  readonly subtitle: string;
  /** The text for screen readers. */
  readonly description: string;
  readonly x: Axis;
  readonly y: Axis;
  /** The first series is drawn over the others. */
  readonly series: readonly Series[];
  readonly bands?: readonly Band[];
}

const WIDTH = 720;
const LEFT = 64;
/** The margin holds half of the widest number. */
const RIGHT = WIDTH - 40;
const HEADING_HEIGHT = 66;
const LEGEND_LINE_HEIGHT = 22;
const LEGEND_DASH = 26;
const AXIS_LABEL_HEIGHT = 32;
const PLOT_HEIGHT = 210;
const FOOT_HEIGHT = 56;

export const BACKGROUNDS = ['#ffffff', '#0d1117'] as const;
/** Light, then dark; each has a contrast of at least 4.5 with its background. */
export const COLOURS = [
  ['#0b62c4', '#6cb6ff'],
  ['#6b6b6b', '#a0a7b0'],
  ['#a8410c', '#ffa657'],
  ['#1a7f37', '#56d364'],
  ['#8a2be2', '#c9a0ff'],
  ['#c2185b', '#ff8fb8'],
  ['#00707a', '#4dd0e1'],
  ['#7a5c00', '#e3c14a'],
  ['#b71c1c', '#ff7b72'],
  ['#4a5a00', '#b9cf4b'],
  ['#5b4bb5', '#a5b4fc'],
  ['#8d4a75', '#e5a3d0'],
  ['#3f6212', '#84cc16'],
] as const;
/** Adjacent lines differ in their pattern as well as in their colour. */
const DASHES = ['', '8 4', '2 4'] as const;
/** A point nearer than this to the one drawn before it shows nothing new. */
const POINTS_APART = 1.5;

/** Each series needs a colour of its own. */
export const SERIES_MAX = COLOURS.length;

type Scale = (value: number) => number;

interface Frame {
  readonly top: number;
  readonly bottom: number;
  readonly x: Scale;
  readonly y: Scale;
}

export function lineChart(chart: LineChart): string {
  if (chart.series.length > SERIES_MAX) throw new Error(`At most ${SERIES_MAX} lines have a colour.`);
  const top = HEADING_HEIGHT + chart.series.length * LEGEND_LINE_HEIGHT + AXIS_LABEL_HEIGHT;
  const bottom = top + PLOT_HEIGHT;
  const height = bottom + FOOT_HEIGHT;
  const frame = { top, bottom, x: scaleOf(chart.x, LEFT, RIGHT), y: scaleOf(chart.y, bottom, top) };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title description">`,
    `<title id="title">${escaped(chart.title)}</title>`,
    `<desc id="description">${escaped(chart.description)}</desc>`,
    styles(),
    `<rect class="page" width="${WIDTH}" height="${height}" rx="8"/>`,
    text('title', LEFT, 34, chart.title),
    text('soft', LEFT, 56, chart.subtitle),
    ...chart.series.flatMap(({ name }, n) => legendOf(name, n)),
    text('soft', LEFT, top - 10, chart.y.label),
    ...(chart.bands ?? []).flatMap((band) => bandOf(band, frame)),
    ...chart.y.ticks.flatMap((value) => rowOf(chart.y, value, frame)),
    ...chart.x.ticks.flatMap((value) => columnOf(chart.x, value, frame)),
    text('soft middle', (LEFT + RIGHT) / 2, height - 14, chart.x.label),
    // The first line is drawn last, over the others.
    ...chart.series.map((line, n) => curveOf(line, n, frame)).toReversed(),
    '</svg>',
    '',
  ].join('\n');
}

/** Values outside of the axis are drawn at its edge. */
function scaleOf({ min, max, scale }: Axis, from: number, to: number): Scale {
  const measure = scale === 'log' ? Math.log10 : (value: number) => value;
  const [low, high] = [measure(min), measure(max)];
  return (value) => {
    const inside = Math.min(Math.max(value, min), max);
    return from + ((measure(inside) - low) / (high - low)) * (to - from);
  };
}

function styles(): string {
  const lines = (shade: 0 | 1) => COLOURS.map((pair, n) => `.line-${n}{stroke:${pair[shade]}}`).join('');
  const dashes = COLOURS.map((_, n) => dashOf(n)).join('');
  const [light, dark] = BACKGROUNDS;
  return [
    '<style>',
    'text{font:13px system-ui,sans-serif;fill:#1f2328}.title{font-size:17px;font-weight:600}',
    `.page{fill:${light};stroke:#d1d9e0}.band{fill:#1a7f37;opacity:.12}.grid{stroke:#d1d9e0}`,
    '.soft{fill:#59636e}.middle{text-anchor:middle}.end{text-anchor:end}',
    `path{fill:none;stroke-width:2.5;stroke-linejoin:round}${lines(0)}${dashes}`,
    '@media (prefers-color-scheme:dark){',
    `.page{fill:${dark};stroke:#3d444d}.band{fill:#56d364}.grid{stroke:#3d444d}`,
    `text{fill:#f0f6fc}.soft{fill:#9198a1}${lines(1)}`,
    '}',
    '</style>',
  ].join('\n');
}

function dashOf(n: number): string {
  const dash = DASHES[n % DASHES.length] ?? '';
  return dash === '' ? '' : `.line-${n}{stroke-dasharray:${dash}}`;
}

function legendOf(name: string, n: number): readonly string[] {
  const y = HEADING_HEIGHT + (n + 1) * LEGEND_LINE_HEIGHT - 4;
  return [
    `<path class="line-${n}" d="M${LEFT} ${y - 4}h${LEGEND_DASH}"/>`,
    text('', LEFT + LEGEND_DASH + 8, y, name),
  ];
}

function bandOf({ label, from, to }: Band, { top, bottom, x }: Frame): readonly string[] {
  const [left, right] = [x(from), x(to)];
  return [
    `<rect class="band" x="${short(left)}" y="${top}" width="${short(right - left)}" height="${bottom - top}"/>`,
    text('soft middle', (left + right) / 2, top - 10, label),
  ];
}

function rowOf(axis: Axis, value: number, { y }: Frame): readonly string[] {
  const at = short(y(value));
  return [
    `<line class="grid" x1="${LEFT}" x2="${RIGHT}" y1="${at}" y2="${at}"/>`,
    text('soft end', LEFT - 8, y(value) + 4, axis.format(value)),
  ];
}

function columnOf(axis: Axis, value: number, { top, bottom, x }: Frame): readonly string[] {
  const at = short(x(value));
  return [
    `<line class="grid" x1="${at}" x2="${at}" y1="${top}" y2="${bottom}"/>`,
    text('soft middle', x(value), bottom + 20, axis.format(value)),
  ];
}

function curveOf({ points }: Series, n: number, { x, y }: Frame): string {
  const visible = thinnedOut(points.map(([at, value]) => [x(at), y(value)] as const));
  const path = visible.map(([left, top], i) => `${i === 0 ? 'M' : 'L'}${short(left)} ${short(top)}`);
  return `<path class="line-${n}" d="${path.join('')}"/>`;
}

type Point = readonly [left: number, top: number];

/** Leaves out points that are too near to the point before. The first and the last point stay. */
function thinnedOut(points: readonly Point[]): readonly Point[] {
  const kept: Point[] = [];
  for (const [n, point] of points.entries()) {
    const before = kept.at(-1);
    const isApart =
      before === undefined || Math.hypot(point[0] - before[0], point[1] - before[1]) >= POINTS_APART;
    if (isApart || n === points.length - 1) kept.push(point);
  }
  return kept;
}

function text(classes: string, x: number, y: number, content: string): string {
  const named = classes === '' ? '' : ` class="${classes}"`;
  return `<text${named} x="${short(x)}" y="${short(y)}">${escaped(content)}</text>`;
}

/** A smaller difference than a tenth of a pixel is not visible. */
function short(value: number): string {
  return String(Math.round(value * 10) / 10);
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(content: string): string {
  return content.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
}

export type ChartName = 'lateness' | 'burst' | 'stored-throughput' | 'stored-lateness';

/** A chart as a file beside the page that shows it. */
export interface ChartFile {
  readonly name: ChartName;
  /** The path relative to the page. */
  readonly file: string;
  readonly title: string;
  readonly svg: string;
}

export function chartFile(name: ChartName, chart: LineChart): ChartFile {
  return { name, file: `benchmarks/${name}.svg`, title: chart.title, svg: lineChart(chart) };
}
