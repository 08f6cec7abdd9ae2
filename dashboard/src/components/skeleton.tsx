/** A placeholder with the size of the content, so that nothing moves when the content arrives. */
export function Skeleton({
  height = 16,
  width,
}: {
  readonly height?: number;
  readonly width?: number | string;
}) {
  return <div class="skeleton" style={{ height: `${height}px`, width }} />;
}

const ROWS = [72, 60, 80, 55, 68, 75] as const;

export function TableSkeleton({ label = 'Loading' }: { readonly label?: string }) {
  return (
    <div class="space-y-4 p-4" role="status" aria-label={label}>
      {ROWS.map((percent) => (
        <Skeleton key={percent} height={18} width={`${percent}%`} />
      ))}
    </div>
  );
}
