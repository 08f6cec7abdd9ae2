/** Changes the product itself, for a deliberate bug. What it answers undoes the change. */
export type Patch = () => () => void;

/** The same class, but for this member of it; `change` is given the member as it is. */
export function patched(
  prototype: object,
  name: string,
  change: (own: PropertyDescriptor) => PropertyDescriptor,
): Patch {
  return () => {
    const own = Object.getOwnPropertyDescriptor(prototype, name);
    if (own === undefined) throw new Error(`There is no ${name} to patch.`);
    Object.defineProperty(prototype, name, { ...own, ...change(own) });
    return () => Object.defineProperty(prototype, name, own);
  };
}
