/** Small line icons on a grid of 16 × 16. They stand beside words, so screen readers skip them. */
const PATHS = {
  overview: 'M2 13.5h12M4 11V7.5M8 11V3M12 11V5.5',
  schedules: 'M3 3.5h10v10H3zM3 6.5h10M6 2v2.5M10 2v2.5',
  deliveries: 'M14 2 7.5 8.5M14 2l-4 12-2.5-5.5L2 6z',
  endpoints: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM2.5 8h11M8 2.5C5 6 5 10 8 13.5 11 10 11 6 8 2.5z',
  settings: 'M2.5 4.5H9M12 4.5h1.5M2.5 11.5H4M7 11.5h6.5M10.5 3v3M5.5 10v3',
  check: 'm3 8.5 3.5 3.5L13 4.5',
  cross: 'm4 4 8 8M12 4l-8 8',
  retry: 'M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3',
  pause: 'M6 4v8M10 4v8',
  clock: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM8 5v3.2l2.2 1.3',
  bolt: 'M8.5 2 4 9h3.5L7 14l5-7.5H8.5z',
  warning: 'M8 2.5 14 13H2zM8 6.5V9M8 11v.2',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  plus: 'M8 3v10M3 8h10',
  chevron: 'm4.5 6.5 3.5 3.5 3.5-3.5',
  left: 'M10 3.5 5.5 8 10 12.5',
  right: 'M6 3.5 10.5 8 6 12.5',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.5 10.5l3 3',
  eye: 'M1.5 8C4 2.5 12 2.5 14.5 8 12 13.5 4 13.5 1.5 8zM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  person: 'M8 2.5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM2.5 14c1-5 10-5 11 0',
  dot: 'M8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  stop: 'M4.5 4.5h7v7h-7z',
  flag: 'M4 14V3h8L9.5 6 12 9H4',
  bell: 'M8 2.5a3.5 3.5 0 0 0-3.5 3.5c0 3.5-1.5 5-1.5 5h10s-1.5-1.5-1.5-5A3.5 3.5 0 0 0 8 2.5zM6.5 13.5h3',
  hourglass: 'M4 2.5h8l-8 11h8z',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({
  name,
  size = 16,
  className = '',
}: {
  readonly name: IconName;
  readonly size?: number;
  readonly className?: string;
}) {
  return (
    <svg
      viewBox="0 0 16 16"
      width={size}
      height={size}
      aria-hidden="true"
      class={`flex-none ${className}`}
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
