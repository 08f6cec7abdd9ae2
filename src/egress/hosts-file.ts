import { readFile, stat } from 'node:fs/promises';

export const SYSTEM_HOSTS_FILE =
  process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';

/** A larger file is not a list of hosts, and is treated as empty. */
const HOSTS_FILE_BYTES_MAX = 8_388_608;

const NO_HOSTS: ReadonlyMap<string, readonly string[]> = new Map();

/** The hosts file of the machine. It is kept in memory, and read again when it has changed. */
export class HostsFile {
  readonly #path: string;
  #version = '';
  #hosts = NO_HOSTS;

  constructor(path: string = SYSTEM_HOSTS_FILE) {
    this.#path = path;
  }

  async addressesOf(name: string): Promise<readonly string[]> {
    try {
      await this.#refresh();
    } catch {
      this.#version = '';
      this.#hosts = NO_HOSTS;
    }
    return this.#hosts.get(name.toLowerCase()) ?? [];
  }

  async #refresh(): Promise<void> {
    const { mtimeNs, size, ino } = await stat(this.#path, { bigint: true });
    const version = `${mtimeNs}/${size}/${ino}`;
    if (version === this.#version) return;
    const text = size <= HOSTS_FILE_BYTES_MAX ? await readFile(this.#path, 'utf8') : '';
    this.#hosts = parseHosts(text);
    this.#version = version;
  }
}

export function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    for (const name of names) {
      const key = name.toLowerCase();
      const known = hosts.get(key);
      if (known === undefined) hosts.set(key, [address]);
      else if (!known.includes(address)) known.push(address);
    }
  }
  return hosts;
}
