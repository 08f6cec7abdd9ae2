export const NAME_CHARACTERS_MAX = 255;

/** The name of a schedule or an endpoint profile. */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,254}$/;

export function isName(text: string): boolean {
  return NAME.test(text);
}
