package export_test

import (
	"context"
	"image"
	"image/color"
	"image/png"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"jig/internal/export"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/tool"
)

// browser opens a page and gives what is on standard output.
func browser(t *testing.T, page string, args ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs chromium")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Fatal("chromium is missing (package chromium, or make deps): nobody opened the page")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "session.html")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	all := append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
		"--user-data-dir=" + filepath.Join(dir, "profile"), "--virtual-time-budget=2000"}, args...)
	c := exec.CommandContext(ctx, path, append(all, "file://"+file)...)
	c.Env = append(os.Environ(), "HOME="+dir)
	c.WaitDelay = 5 * time.Second
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return string(out)
}

// trap listens where hostile content would have a browser connect to.
func trap(t *testing.T) (address string, met func() int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n.Add(1)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return "http://" + l.Addr().String(), n.Load
}

// attacks are what would be noticed: each changes the page's title, or connects.
func attacks(address string) string {
	return strings.ReplaceAll(`</title></pre></details><script>document.title="ran"; fetch("ADDR/fetch")</script>`+
		`<img src="ADDR/img" onerror="document.title='ran'"><svg onload="document.title='ran'"><link rel=stylesheet href="ADDR/css">`+
		`<style>@import "ADDR/import"; body{background:url(ADDR/bg)}</style><iframe src="ADDR/frame"></iframe><body onload="document.title='ran'">`+
		`<base href="ADDR/"><form action="ADDR/form"><input autofocus onfocus="document.title='ran'"></form>`+
		`" autofocus onfocus="document.title='ran'" x="`, "ADDR", address)
}

// away would have the browser leave the page, so that nothing else of it could be seen.
func away(address string) string {
	return `<meta http-equiv=refresh content="0;url=` + address + `/refresh">`
}

func TestHostileContentDoesNothingInABrowser(t *testing.T) {
	address, met := trap(t)
	// What is expected not to happen does happen where nothing stands in its way.
	if dom := browser(t, "<title>calm</title><body>"+attacks(address), "--dump-dom"); !strings.Contains(dom, "<title>ran</title>") || met() == 0 {
		t.Fatalf("the attacks do nothing at all (%d connections): %s", met(), dom)
	}
	before := met()
	a, facts := everywhere(attacks(address) + away(address))
	a.Title = "calm"
	dom := browser(t, page(t, a, facts...), "--dump-dom")
	if !strings.Contains(dom, "<title>calm</title>") {
		t.Error("the title was changed")
	}
	if n := met() - before; n > 0 {
		t.Errorf("%d connections", n)
	}
	onlyOurs(t, "the page as the browser understood it", strings.ReplaceAll(dom, `open=""`, ""))
}

func shown() (export.About, []proto.Fact) {
	card := &tool.Card{Kind: tool.CardDiff, Title: "x", Text: "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", Added: 1, Removed: 1}
	return about, []proto.Fact{began(), says("Mend it."), answers("I **do**.\n\n```go\nx := 1\n```\n", "c1", "c2"), proto.Opened{Call: "c1", Plan: tool.Plan{Title: "[edit_file x]"}},
		proto.Closed{Call: "c1", Result: tool.Result{Blocks: msg.Blocks{msg.Text{Text: "1 replacement(s)"}}, Card: card}},
		closes("c2", strings.Repeat("a long result\n", 100)), answers("Done.")}
}

func TestBrowserShowsTitleDiffAndFoldedResults(t *testing.T) {
	a, facts := shown()
	dom := browser(t, page(t, a, facts...), "--dump-dom")
	for _, want := range []string{"<title>mend it</title>", "<h1>mend it</h1>", "<ins>+c</ins>", "<del>-b</del>", "<i>@@ -1,2 +1,2 @@</i>", "<strong>do</strong>",
		"<details><summary>Result <small>100 lines, 1,400 bytes</small></summary>", "a long result"} {
		if !strings.Contains(dom, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestPageFollowsTheChoiceOfLightOrDark(t *testing.T) {
	a, facts := shown()
	p := page(t, a, facts...)
	for _, x := range []struct {
		name, scheme    string
		ground, add, bg color.NRGBA
	}{
		{"light", "1", color.NRGBA{0xfb, 0xfa, 0xf8, 255}, color.NRGBA{0xe2, 0xf5, 0xe5, 255}, color.NRGBA{0xee, 0xf3, 0xfb, 255}},
		{"dark", "0", color.NRGBA{0x16, 0x18, 0x1c, 255}, color.NRGBA{0x17, 0x33, 0x23, 255}, color.NRGBA{0x1f, 0x2a, 0x3a, 255}},
	} {
		file := filepath.Join(t.TempDir(), "shot.png")
		browser(t, p, "--window-size=900,900", "--blink-settings=preferredColorScheme="+x.scheme, "--screenshot="+file)
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		shot, err := png.Decode(f)
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if at := color.NRGBAModel.Convert(shot.At(5, 5)); at != x.ground {
			t.Errorf("%s: the ground is %v", x.name, at)
		}
		for what, c := range map[string]color.NRGBA{"added line": x.add, "person's message": x.bg} {
			if n := count(shot, c); n < 1000 {
				t.Errorf("%s: %d points have the colour of a %s", x.name, n, what)
			}
		}
	}
}

func count(i image.Image, c color.NRGBA) (n int) {
	for y := i.Bounds().Min.Y; y < i.Bounds().Max.Y; y++ {
		for x := i.Bounds().Min.X; x < i.Bounds().Max.X; x++ {
			if color.NRGBAModel.Convert(i.At(x, y)) == c {
				n++
			}
		}
	}
	return n
}
