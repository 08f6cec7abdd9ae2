/** The signing secrets of a project and mode. */
import { useState } from 'preact/hooks';
import type { Listed, SecretInfo } from '../../../../src/control/http/contract.ts';
import { post } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { RotateDialog } from '../../components/overlap-dialog.tsx';
import { Card, Loaded } from '../../components/page.tsx';
import { newestOf, RevealSecret, SecretDialog, SecretsTable } from '../../components/secrets.tsx';
import { TableSkeleton } from '../../components/skeleton.tsx';
import { refreshLive, useLive } from '../../live.ts';
import { apiPath, hasRole, scope } from '../../session.ts';
import { SettingsPage } from './settings-page.tsx';

export function SecretsPage() {
  const live = useLive<Listed<SecretInfo>>(apiPath('secrets'));
  const [isRotating, setRotating] = useState(false);
  const [revealing, setRevealing] = useState<SecretInfo | null>(null);
  const [shown, setShown] = useState<SecretInfo | null>(null);
  const rotate = async (overlap: string) => {
    const { data } = await post<Listed<SecretInfo>>(apiPath('secrets/rotate'), { overlap });
    setRotating(false);
    setShown(newestOf(data));
    void refreshLive();
  };
  return (
    <SettingsPage
      title="Signing secrets"
      lead={
        <p>
          Requests in {scope.value?.mode} mode are signed with this secret, so that receivers can detect
          forged requests. Receivers that share a secret can forge requests to each other. To prevent that,
          give each endpoint profile its own secret.
        </p>
      }
      actions={
        hasRole('admin') ? (
          <Button kind="primary" icon="retry" onClick={() => setRotating(true)}>
            Rotate…
          </Button>
        ) : undefined
      }
    >
      <Card isFlush>
        <Loaded live={live} skeleton={<TableSkeleton />}>
          {({ data }) => <SecretsTable secrets={data} onReveal={setRevealing} />}
        </Loaded>
      </Card>
      {isRotating ? <RotateDialog send={rotate} onClose={() => setRotating(false)} /> : null}
      {revealing === null ? null : (
        <RevealSecret
          path="secrets"
          secret={revealing}
          onClose={() => setRevealing(null)}
          onRevealed={setShown}
        />
      )}
      {shown === null ? null : (
        <SecretDialog
          secret={shown}
          receivers="every receiver that verifies signatures"
          onClose={() => setShown(null)}
        />
      )}
    </SettingsPage>
  );
}
