/** Reads a setting of the process. An empty setting counts as unset. */
export type Environment = (name: string) => string | undefined;

interface WithProcess {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
}

/** Some runtimes have no `process`, and Deno throws if the program may not read its environment. */
export const processEnvironment: Environment = (name) => {
  try {
    const value = (globalThis as WithProcess).process?.env?.[name];
    return value === '' ? undefined : value;
  } catch {
    return undefined;
  }
};
