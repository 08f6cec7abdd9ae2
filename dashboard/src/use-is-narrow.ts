/** Whether the page is as narrow as a phone, for what CSS alone cannot lay out. */
import { useEffect, useState } from 'preact/hooks';

const NARROW = '(width < 40rem)';

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
