import { formatInstant } from '#src/domain/instant.ts';
import { LOG_LEVELS, type Log, type LogLevel } from '#src/ports/telemetry.ts';
import { systemClock } from './clock.ts';
import { LineWriter } from './line-writer.ts';

const STDERR = 2;
/** Whoever looks into the log because of one of these finds it there. */
const URGENT: ReadonlySet<LogLevel> = new Set(['warn', 'error']);

type Write = Log['info'];

/** JSON lines on standard error: standard output is for what a person asked to see. */
export function systemLog(
  level: LogLevel,
  lines: Pick<LineWriter, 'put' | 'flush'> = new LineWriter(STDERR),
): Log & { flush(): void } {
  let leftOut = 0;

  function write(label: LogLevel, fields: Parameters<Write>[0], message: string): void {
    const rest = JSON.stringify({ ...fields, msg: message }).slice(1);
    const line = `{"level":"${label}","time":"${formatInstant(systemClock.now())}",${rest}\n`;
    if (!lines.put(line, URGENT.has(label))) {
      leftOut++;
    } else if (leftOut > 0) {
      const count = leftOut;
      leftOut = 0;
      write('warn', { count }, 'log lines were dropped: standard error was not read');
      // It did not fit either: the next one tells of all of them.
      if (leftOut > 0) leftOut = count;
    }
  }

  /** What is below the level asked for costs nothing. */
  function at(label: LogLevel): Write {
    const isWanted = LOG_LEVELS.indexOf(label) >= LOG_LEVELS.indexOf(level);
    return isWanted ? (fields, message) => write(label, fields, message) : () => {};
  }

  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    flush: () => lines.flush(),
  };
}
