import { formatInstant } from '#src/domain/instant.ts';
import { LOG_LEVELS, type Log, type LogLevel } from '#src/ports/telemetry.ts';
import { systemClock } from './clock.ts';
import { LineWriter } from './line-writer.ts';

const STDERR = 2;
/** These are written at once, so that an operator finds them in the log immediately. */
const URGENT: ReadonlySet<LogLevel> = new Set(['warn', 'error']);

type Write = Log['info'];

/** Logs JSON lines to standard error. Standard output is for texts that a person asked for. */
export function systemLog(
  level: LogLevel,
  lines: Pick<LineWriter, 'write' | 'flush'> = new LineWriter(STDERR),
): Log & { flush(): void } {
  let dropped = 0;

  function write(label: LogLevel, fields: Parameters<Write>[0], message: string): void {
    const rest = JSON.stringify(fields).slice(1, -1);
    const head = `{"level":"${label}","time":"${formatInstant(systemClock.now())}",`;
    const line = `${head}${rest === '' ? '' : `${rest},`}"msg":${JSON.stringify(message)}}\n`;
    if (!lines.write(line, URGENT.has(label))) {
      dropped++;
    } else if (dropped > 0) {
      const count = dropped;
      dropped = 0;
      write('warn', { count }, 'log lines were dropped: standard error was not read');
      // This line was dropped too, so the next one reports the whole count.
      if (dropped > 0) dropped = count;
    }
  }

  /** A level below the configured one costs nothing. */
  function at(label: LogLevel): Write {
    const isEnabled = LOG_LEVELS.indexOf(label) >= LOG_LEVELS.indexOf(level);
    return isEnabled ? (fields, message) => write(label, fields, message) : () => {};
  }

  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    flush: () => lines.flush(),
  };
}
