/** The name of a browser from its user agent, to tell sessions apart. */
const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['FxiOS/', 'Firefox'],
  ['CriOS/', 'Chrome'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
  ['curl/', 'curl'],
] as const;

const SYSTEMS = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Windows', 'Windows'],
  ['Mac OS', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const;

export function browserName(agent: string): string {
  const browser = BROWSERS.find(([part]) => agent.includes(part))?.[1];
  const system = SYSTEMS.find(([part]) => agent.includes(part))?.[1];
  if (browser === undefined) return agent === '' ? 'Unknown' : agent.slice(0, 40);
  return system === undefined ? browser : `${browser} on ${system}`;
}
