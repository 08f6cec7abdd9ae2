/** Changes the product itself for a deliberate bug. The returned function undoes the change. */
export type Patch = () => () => void;

/** Replaces one member of a class. `change` receives the original member. */
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
