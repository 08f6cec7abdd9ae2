import { userInfo } from 'node:os';

/** The user of the operating system that this process runs as: by name, else by number, as in most containers. */
export function osUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
