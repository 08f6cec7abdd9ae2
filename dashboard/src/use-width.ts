/** The width of an element or of the window, for layouts that CSS alone cannot make. */
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

const NARROW = '(width < 40rem)';

/** Whether the window is as narrow as a phone. */
export function useIsNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const media = matchMedia(NARROW);
    const listen = () => setNarrow(media.matches);
    media.addEventListener('change', listen);
    return () => media.removeEventListener('change', listen);
  }, []);
  return isNarrow;
}

/** The width of an element in pixels, kept up to date. */
export function useWidth(): readonly [RefObject<HTMLDivElement | null>, number] {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (element.current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
