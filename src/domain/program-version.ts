/** Returns whether a version of the program, such as `0.2.0`, is older than another. */
export function isOlder(version: string, than: string): boolean {
  const [one, other] = [numbersOf(version), numbersOf(than)];
  const at = other.findIndex((number, index) => number !== (one[index] ?? 0));
  return at >= 0 && (one[at] ?? 0) < (other[at] ?? 0);
}

function numbersOf(version: string): readonly number[] {
  const [release = ''] = version.split(/[-+]/);
  return release.split('.').map(Number);
}
