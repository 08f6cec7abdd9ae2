/** What the browser keeps of the reader's choices. A browser that keeps nothing is no reason to fail. */
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
    // Private windows and full disks: the choice holds until the page is left.
  }
}
