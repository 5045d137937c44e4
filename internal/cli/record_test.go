package cli

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestWhatVariablesHoldIsASecretWhereTheirNamesSaySo(t *testing.T) {
	here := t.TempDir()
	for kv, want := range map[string]bool{
		"PGPASSWORD=s3cret": true, "MYSQL_PWD=s3cret": true, "GH_PAT=ghp_0123456789": true, "SSHPASS=hunter22": true,
		"REDISCLI_AUTH=s3cret": true, "AWS_CREDS=a1b2c3": true, "X_CREDENTIALS=a1b2c3": true, "dbPassword=123456": true,
		"DB_PASS_2=s3cret": true, "GH_PAT2=ghp_0123456789": true, "my-token=abcdef": true, "OPENAI_API_KEY=sk-123456": true,
		"TOKEN_OF_OURS=tok-99998888": true, "SIGNING_KEY=-----BEGIN PRIVATE KEY-----\nx": true,
		"AWS_SECRET_ACCESS_KEY=/wJalrXUtnFEMI/K7MDENG/bPxRfiCY": true, "APP_SECRET=/wJalrXUtnFEMI": true,

		"PWD=/some/folder-that-is-none": false, "OLDPWD=/some/folder-that-is-none": false, "COMPAT=version-7": false,
		"MONKEY=bananas": false, "AUTH_TYPE=basic-auth": false, "BYPASS=everything": false, "GH_PAT=short": false,
		"TOKEN_LIMIT=100000": false, "PATH=/usr/bin:/bin": false, "PATTERN=abcdef": false, "AUTHOR=somebody": false,
		"SSH_AUTH_SOCK=" + filepath.Join(here, "agent.1"): false, "GOOGLE_APPLICATION_CREDENTIALS=" + filepath.Join(here, "none.json"): false,
		"HOST_KEY=~/.ssh/id_ed25519": false, "GPG_PASS=--pinentry-mode": false, "USE_TOKEN=enabled": false, "SSH_ASKPASS=ksshaskpass": false,
		"TOKEN": false, "": false,
	} {
		if got := len(held([]string{kv})) > 0; got != want {
			t.Errorf("%q: a secret %v, want %v", kv, got, want)
		}
	}
	if got := held([]string{"DATABASE=postgres://ann:pa55@db/x", "PGPASSWORD=s3cret"}); !slices.Equal(got, []string{"pa55", "ann:pa55", "s3cret"}) {
		t.Errorf("%q", got)
	}
}
