/**
 * Describes common cron expressions: "At 09:00, Monday to Friday". It does not validate them, since the service does. For
 * other expressions it returns null, and the page shows the expression alone.
 */
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
/** More times than this are too long for a sentence. */
const TIMES_MAX = 4;

export function describeCron(expression: string): string | null {
  const fields = expression.trim().split(/[ \t]+/);
  if (fields.length !== 5) return null;
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  const time = describeTime(minute, hour);
  const days = describeDays(day, weekday);
  const months = month === '*' ? '' : describeField(month, monthName);
  if (time === null || days === null || months === null) return null;
  const often =
    days === '' && time.startsWith('At ') ? `Every day at ${time.slice('At '.length)}` : time + days;
  return often + (months === '' ? '' : `, in ${months}`);
}

function describeTime(minute: string, hour: string): string | null {
  const everyMinutes = step(minute);
  if (hour === '*') {
    if (everyMinutes !== null) return everyMinutes === 1 ? 'Every minute' : `Every ${everyMinutes} minutes`;
    const minutes = numbers(minute, 59);
    if (minutes === null || minutes.length > TIMES_MAX) return null;
    return minutes.length === 1 && minutes[0] === 0
      ? 'Every hour'
      : `Every hour at ${listed(minutes.map((value) => `:${two(value)}`))}`;
  }
  const everyHours = step(hour);
  if (everyHours !== null) {
    const minutes = numbers(minute, 59);
    if (minutes?.length !== 1 || minutes[0] === undefined) return null;
    return `Every ${everyHours} hours at :${two(minutes[0])}`;
  }
  if (everyMinutes !== null) {
    const span = /^(\d{1,2})-(\d{1,2})$/.exec(hour);
    if (span === null) return null;
    const often = everyMinutes === 1 ? 'Every minute' : `Every ${everyMinutes} minutes`;
    return `${often} from ${two(Number(span[1]))}:00 to ${two(Number(span[2]))}:59`;
  }
  const hours = numbers(hour, 23);
  const minutes = numbers(minute, 59);
  if (hours === null || minutes === null || hours.length * minutes.length > TIMES_MAX) return null;
  return `At ${listed(hours.flatMap((value) => minutes.map((of) => `${two(value)}:${two(of)}`)))}`;
}

/** If both fields are restricted, cron fires when either matches. Many people do not expect this. */
function describeDays(day: string, weekday: string): string | null {
  if (day === '*' && weekday === '*') return '';
  const ofMonth = day === '*' ? '' : describeField(day, ordinal);
  const ofWeek = weekday === '*' ? '' : describeField(weekday, weekdayName);
  if (ofMonth === null || ofWeek === null) return null;
  if (ofMonth === '') return `, ${ofWeek}`;
  if (ofWeek === '') return `, on the ${ofMonth}`;
  return `, on the ${ofMonth} and on every ${ofWeek}`;
}

/** Describes a list of values and ranges. */
function describeField(text: string, name: (value: string) => string | null): string | null {
  const words: string[] = [];
  for (const item of text.split(',')) {
    const [from = '', to, ...rest] = item.split('-');
    const first = name(from);
    const last = to === undefined ? '' : name(to);
    if (first === null || last === null || rest.length > 0) return null;
    words.push(last === '' ? first : `${first} to ${last}`);
  }
  return listed(words);
}

function weekdayName(text: string): string | null {
  if (/^[0-7]$/.test(text)) return WEEKDAYS[Number(text)] ?? null;
  return WEEKDAYS.find((known) => isShortOf(text, known)) ?? null;
}

function monthName(text: string): string | null {
  if (/^\d{1,2}$/.test(text)) return MONTHS[Number(text) - 1] ?? null;
  return MONTHS.find((known) => isShortOf(text, known)) ?? null;
}

function isShortOf(text: string, name: string): boolean {
  return text.length === 3 && name.toUpperCase().startsWith(text.toUpperCase());
}

function ordinal(text: string): string | null {
  if (!/^\d{1,2}$/.test(text)) return null;
  const value = Number(text);
  if (value < 1 || value > 31) return null;
  const ending = value % 10 === 1 ? 'st' : value % 10 === 2 ? 'nd' : value % 10 === 3 ? 'rd' : 'th';
  return `${value}${value > 10 && value < 14 ? 'th' : ending}`;
}

function step(text: string): number | null {
  if (text === '*') return 1;
  const match = /^\*\/(\d{1,2})$/.exec(text);
  return match === null || Number(match[1]) === 0 ? null : Number(match[1]);
}

function numbers(text: string, max: number): readonly number[] | null {
  const values = text.split(',').map((item) => (/^\d{1,2}$/.test(item) ? Number(item) : -1));
  return values.every((value) => value >= 0 && value <= max) ? values : null;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

function listed(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
