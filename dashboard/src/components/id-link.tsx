/** An id that leads to its page. */
import { toPage } from '../session.ts';

export function IdLink({ page, id }: { readonly page: string; readonly id: string }) {
  return (
    <a class="link font-mono text-sm wrap-anywhere" href={toPage(`${page}/${id}`)}>
      {id}
    </a>
  );
}
