/** Says which call was probably meant by a request to a path or method that does not exist. */
import { Names } from '#src/domain/nearest-name.ts';
import { listed, quoted } from '#src/texts/quote.ts';
import { OPERATIONS, type Operation } from './contract/operations.ts';

const PREFIX = '/v1';
const ROUTES = Object.values<Operation>(OPERATIONS).map(({ method, path }) => ({
  method,
  path: `${PREFIX}${path}`,
}));
const PATHS = new Names(new Set(ROUTES.map(({ path }) => path)));
const ID_AFTER = /^(\/v1\/[^/]+)\/[^/]+/;
const NAME_AFTER = /^(\/v1\/(?:schedules|endpoints)\/named)\/[^/]+/;
/** A longer path is not a misspelt one. */
const PATH_CHARACTERS_MAX = 200;

/** Calls that other APIs have, by method and path. */
const MEANT: ReadonlyMap<string, string> = new Map([
  ['DELETE /v1/schedules/{id}', 'To end a schedule, use POST /v1/schedules/{id}/cancel.'],
  [
    'PUT /v1/schedules/{id}',
    'To change a schedule, use PATCH /v1/schedules/{id}. To change its time, use POST /v1/schedules/{id}/reschedule.',
  ],
  ['DELETE /v1/endpoints/{id}', 'To retire an endpoint profile, use POST /v1/endpoints/{id}/archive.'],
  ['PUT /v1/endpoints/{id}', 'To change an endpoint profile, use PATCH /v1/endpoints/{id}.'],
  [
    'DELETE /v1/deliveries/{id}',
    'To cancel a delivery that waits for a retry, use POST /v1/deliveries/{id}/cancel. Otherwise use POST /v1/schedules/{id}/cancel with its schedule_id.',
  ],
  ['POST /v1/deliveries', 'A delivery is made by a schedule: use POST /v1/schedules, or replay one.'],
]);

/** `url` may have a query. `original` is the URL before a path that cannot be decoded was replaced. */
export function unknownPathText(method: string, url: string, original: string): string {
  if (url !== original)
    return 'The path cannot be decoded: after % come two hexadecimal digits, and the bytes must be UTF-8. Write %25 for a percent sign.';
  const [path = ''] = url.split('?', 1);
  const short = path.slice(0, PATH_CHARACTERS_MAX);
  const shown = quoted(`${method} ${templateOf(short)}`);
  return `There is no ${shown}. ${suggestion(method, short) ?? 'GET /docs lists all paths.'}`;
}

function suggestion(method: string, path: string): string | null {
  const trimmed = path.replace(/\/+$/, '');
  const wanted = templateOf(trimmed);
  const methods = ROUTES.filter((route) => route.path === wanted).map((route) => route.method);
  if (methods.some((one) => one === method))
    return path === trimmed ? null : 'Leave out the slash at the end.';
  if (methods.length > 0)
    return MEANT.get(`${method} ${wanted}`) ?? `This path has ${listed(methods, 'and')}.`;
  const nearest = PATHS.nearest(wanted) ?? PATHS.nearest(templateOf(withPrefix(trimmed)));
  return nearest === null ? null : `Did you mean ${nearest}?`;
}

/** Other APIs are below `/api`, or have no prefix. */
function withPrefix(path: string): string {
  return `${PREFIX}${path.replace(/^(?:\/api)?(?:\/v\d)?(?=\/)/, '')}`;
}

/** Replaces the id of an object with `{id}`, or its name with `{name}`. */
function templateOf(path: string): string {
  if (NAME_AFTER.test(path)) return path.replace(NAME_AFTER, '$1/{name}');
  return path.replace(ID_AFTER, '$1/{id}');
}
