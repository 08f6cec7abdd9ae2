/** Tools for deliberate bugs. */
import type { Step } from '#src/store/sql/steps.ts';

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

/** Replaces some verbs of the store. */
export function overriding<S extends object>(verbs: (store: S) => Partial<S>): (store: S) => S {
  return (store) => {
    const other = verbs(store);
    return new Proxy(store, {
      get(target, name) {
        const own: unknown = Reflect.get(other, name);
        if (own !== undefined) return own;
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  };
}

/** Removes the steps with these names. */
export function without(...names: readonly Step[0][]): (steps: readonly Step[]) => readonly Step[] {
  return (steps) => steps.filter(([name]) => !names.includes(name));
}
