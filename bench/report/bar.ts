/** A bar of the project, and how a run does against it. */
import { exactRatio, known, milliseconds, whole } from './figures.ts';

/** A goal is shown with its figure. It is not missed if it is not reached. */
export type Verdict = 'met' | 'missed' | 'goal' | 'goal reached' | 'not measured';

export interface Bar {
  readonly work: string;
  /** The bar, in words. */
  readonly asked: string;
  readonly measured: string;
  readonly verdict: Verdict;
  /** The work for each second of processor time. The page shows it beside a missed bar. */
  readonly perCore?: string | null;
}

/** Null if it was not measured. */
export type Figure = number | null;

export function judge(
  work: string,
  asked: string,
  figures: readonly Figure[],
  judgeNumbers: (...numbers: readonly number[]) => { readonly measured: string; readonly isMet: boolean },
): Bar {
  const numbers = known(figures);
  if (numbers.length < figures.length)
    return { work, asked, measured: 'not measured', verdict: 'not measured' };
  const { measured, isMet } = judgeNumbers(...numbers);
  return { work, asked, measured, verdict: isMet ? 'met' : 'missed' };
}

/** The figure is below a number. */
export function under(
  work: string,
  asked: string,
  figure: Figure,
  max: number,
  format: (value: number) => string = milliseconds,
): Bar {
  return judge(work, asked, [figure], (ours = 0) => ({ measured: `${format(ours)} ms`, isMet: ours < max }));
}

/** The figure is at most `moreMax` milliseconds larger than another one. */
export function within(work: string, asked: string, mine: Figure, theirs: Figure, moreMax: number): Bar {
  return judge(work, asked, [mine, theirs], (ours = 0, other = 0) => ({
    measured: `${milliseconds(ours)} against ${milliseconds(other)} ms: ${signed(ours - other)} ms`,
    isMet: ours - other <= moreMax,
  }));
}

/** The rate is at least this share of another one. */
export function atLeast(work: string, asked: string, mine: Figure, theirs: Figure, ratioMin: number): Bar {
  return judge(work, asked, [mine, theirs], (ours = 0, other = 0) => ({
    measured: `${whole(ours)} against ${whole(other)} a second: ${exactRatio(ours / other)}`,
    isMet: ours / other >= ratioMin,
  }));
}

export function asGoal(bar: Bar): Bar {
  if (bar.verdict === 'not measured') return bar;
  return { ...bar, verdict: bar.verdict === 'met' ? 'goal reached' : 'goal' };
}

/** The bar is not met if some contenders did not take part, because one of them could be better. */
export function unlessMissing(areAll: boolean, bar: Bar): Bar {
  if (areAll || bar.verdict !== 'met') return bar;
  return { ...bar, measured: `${bar.measured}, but not all took part`, verdict: 'not measured' };
}

function signed(ms: number): string {
  return `${ms < 0 ? '−' : '+'}${milliseconds(Math.abs(ms))}`;
}
