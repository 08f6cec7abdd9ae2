/** The layout of the pages. */
import type { ComponentChildren } from 'preact';
import type { SessionInfo } from '../../../src/control/http/contract.ts';
import { Header } from './header.tsx';
import { Nav } from './nav.tsx';

export function Layout({
  who,
  children,
}: {
  readonly who: SessionInfo;
  readonly children: ComponentChildren;
}) {
  return (
    <>
      <a href="#main" class="skip-link">
        Skip to content
      </a>
      <Header who={who} />
      <div class="mx-auto flex max-w-[110rem]">
        <Nav />
        <main id="main" tabIndex={-1} class="main">
          {children}
        </main>
      </div>
    </>
  );
}

/** The layout of the pages for users who are not signed in. */
export function SignedOutLayout({ children }: { readonly children: ComponentChildren }) {
  return (
    <main id="main" class="grid min-h-dvh place-items-center p-4">
      <div class="w-full max-w-sm">{children}</div>
    </main>
  );
}
