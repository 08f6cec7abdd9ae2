/** Choices of the user in the browser's storage. A browser without storage is not an error. */
export function recall(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function remember(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // In private windows and with full disks the choice lasts until the page is left.
  }
}
