/** Says why a request has no valid API key. Nothing of the `Authorization` header is repeated. */
import { parseApiKey } from '#src/domain/api-key.ts';
import { ERRORS } from '#src/domain/errors.ts';

const SEND = 'Send the header "Authorization: Bearer <key>".';

/** The message about an `Authorization` header without a bearer key. */
export function missingKeyText(authorization: string | undefined): string {
  const given = authorization?.trim() ?? '';
  if (given === '') return ERRORS.missing_api_key.message;
  if (/^bearer$/i.test(given)) return `The Authorization header has no key after Bearer. ${SEND}`;
  if (given.startsWith('sk_')) return `The Authorization header has no scheme before the key. ${SEND}`;
  return `The Authorization header has another scheme than Bearer. ${SEND}`;
}

/** The message about a key that no project has. */
export function unknownKeyText(key: string): string {
  if (key.startsWith('whsec_'))
    return 'This is a signing secret, not an API key. An API key begins with sk_test_ or sk_live_.';
  if (/^["'<$`{]/.test(key))
    return 'The API key begins with a quote or a placeholder. Send the key itself: it begins with sk_test_ or sk_live_.';
  if (!/^sk_(?:test|live)_/.test(key))
    return 'This is not an API key of this service. A key begins with sk_test_ or sk_live_.';
  if (parseApiKey(key) === null) return 'This API key is incomplete. Copy the whole key.';
  return ERRORS.invalid_api_key.message;
}
