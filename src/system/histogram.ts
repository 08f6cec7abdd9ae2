/**
 * A histogram in the text format of Prometheus. Each request and each attempt is counted in several of them. The
 * histograms of the library take a microsecond for each, and this one takes a few comparisons and an addition.
 */

/** The counts of one set of labels. */
export class Series {
  readonly #bounds: readonly number[];
  /** One count for each bound, and one for values above all bounds. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    let at = 0;
    while (value > (this.#bounds[at] ?? Number.POSITIVE_INFINITY)) at++;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += value;
  }

  lines(name: string, labels: string): readonly string[] {
    const lines: string[] = [];
    let count = 0;
    for (const [at, own] of this.#counts.entries()) {
      count += own;
      const bound = `le="${this.#bounds[at] ?? '+Inf'}"`;
      lines.push(`${name}_bucket{${labels === '' ? bound : `${bound},${labels}`}} ${count}`);
    }
    return [...lines, `${name}_sum{${labels}} ${this.#sum}`, `${name}_count{${labels}} ${count}`];
  }
}

export interface HistogramOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** The bounds in ascending order. */
  readonly bounds: readonly number[];
}

export class Histogram {
  readonly #options: HistogramOptions;
  /** The series by the text of their labels. There are few, because a label never has arbitrary values. */
  readonly #series = new Map<string, Series>();

  constructor(options: HistogramOptions) {
    this.#options = options;
  }

  /** Callers keep the result, because the lookup costs more than counting. */
  labels(...values: readonly (string | number)[]): Series {
    const { labelNames, bounds } = this.#options;
    const labels = labelNames.map((name, at) => `${name}="${escapeLabel(`${values[at] ?? ''}`)}"`).join(',');
    const series = this.#series.get(labels) ?? new Series(bounds);
    this.#series.set(labels, series);
    return series;
  }

  text(): string {
    const { name, help } = this.#options;
    const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`];
    for (const [labels, series] of this.#series) lines.push(...series.lines(name, labels));
    return `${lines.join('\n')}\n`;
  }
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
