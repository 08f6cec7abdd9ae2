export function Logo() {
  return (
    <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <rect width="32" height="32" rx="8" class="fill-accent" />
      <g
        fill="none"
        class="stroke-on-accent"
        stroke-width="2.5"
        stroke-linecap="round"
        stroke-linejoin="round"
      >
        <circle cx="16" cy="16" r="9" />
        <path d="M16 10.5V16l4 2.5" />
      </g>
    </svg>
  );
}
