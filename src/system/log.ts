import { pino } from 'pino';
import type { Log, LogLevel } from '#src/ports/telemetry.ts';

const STDERR = 2;
/** Lines are written together, at the latest after a moment: a write for each would cost more than its request. */
const BUFFER_BYTES = 4096;
const FLUSH_MS = 100;

/** JSON lines on standard error: standard output is for what a person asked to see. */
export function systemLog(level: LogLevel): Log & { flush(): void } {
  const destination = pino.destination({
    dest: STDERR,
    sync: false,
    minLength: BUFFER_BYTES,
    periodicFlush: FLUSH_MS,
  });
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    flush: () => {
      try {
        destination.flushSync();
      } catch {
        // Nothing was written yet, or standard error is gone: there is nobody left to tell.
      }
    },
  };
}
