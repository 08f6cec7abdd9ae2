/**
 * The text of a signing secret. `Sched-Signature` is keyed with the whole text, so any text can sign. The signature of
 * Standard Webhooks is keyed with the bytes that follow `whsec_` in base64, so only a text of that form can sign.
 */
const PREFIX = 'whsec_';

export function signingSecretText(key: Uint8Array): string {
  return PREFIX + Buffer.from(key).toString('base64');
}

/**
 * Returns the key of the signature of Standard Webhooks, or null if the text has another form. Libraries of the standard
 * differ in what base64 they forgive, so the text must be exactly what an encoder writes, with its padding.
 */
export function standardWebhooksKey(text: string): Uint8Array | null {
  if (!text.startsWith(PREFIX)) return null;
  const encoded = text.slice(PREFIX.length);
  const key = Buffer.from(encoded, 'base64');
  return key.length > 0 && key.toString('base64') === encoded ? key : null;
}
