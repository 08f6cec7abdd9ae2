/** Hints for a new password. The service decides. The hints save a round trip. */
export const PASSWORD_CHARACTERS_MIN = 12;

/** Counts code points, as the service does. */
export function countCharacters(text: string): number {
  return Array.from(text).length;
}

export interface PasswordHint {
  /** 0 to 3. */
  readonly strength: number;
  readonly text: string;
}

export function ratePassword(password: string, name: string): PasswordHint {
  const length = countCharacters(password);
  if (length === 0)
    return {
      strength: 0,
      text: `At least ${PASSWORD_CHARACTERS_MIN} characters. A few unrelated words are good and easy to remember.`,
    };
  if (length < PASSWORD_CHARACTERS_MIN) {
    return { strength: 0, text: `${PASSWORD_CHARACTERS_MIN - length} more characters needed.` };
  }
  const different = new Set(password.toLowerCase()).size;
  if (name.length > 2 && password.toLowerCase().includes(name.toLowerCase())) {
    return { strength: 1, text: 'It contains your name, which is easy to guess.' };
  }
  if (different < 6) return { strength: 1, text: 'It repeats characters. Use more different ones.' };
  if (length < 16) return { strength: 2, text: 'Good. A longer one is better.' };
  return { strength: 3, text: 'Strong.' };
}
