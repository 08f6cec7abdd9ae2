/** Hints while a password is chosen. The service has the last word; these only save a round trip. */
export const PASSWORD_CHARACTERS_MIN = 12;

/** As the service counts them: by what was typed, not by how it is stored. */
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
      text: `At least ${PASSWORD_CHARACTERS_MIN} characters. A few unrelated words are good and easy to keep.`,
    };
  if (length < PASSWORD_CHARACTERS_MIN) {
    return { strength: 0, text: `${PASSWORD_CHARACTERS_MIN - length} more to go.` };
  }
  const different = new Set(password.toLowerCase()).size;
  if (name.length > 2 && password.toLowerCase().includes(name.toLowerCase())) {
    return { strength: 1, text: 'It holds your name, which is the first thing to be guessed.' };
  }
  if (different < 6) return { strength: 1, text: 'It repeats itself. Mix in something else.' };
  if (length < 16) return { strength: 2, text: 'Good. A longer one is better.' };
  return { strength: 3, text: 'Strong.' };
}
