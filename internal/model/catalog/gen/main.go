//go:build ignore

// Command gen writes ../models.txt from the model data of charm.land/catwalk, which is under the MIT
// licence. It needs the module proxy:
//
//	go run main.go [VERSION]
//
// The data gives two cache prices, and which of them is the price of reading differs from provider
// to provider. Reading never costs more than fresh input and writing never less, so the lower one is
// the price of reading, and the other the price of writing where it can be. What is missing costs
// what fresh input costs. Models without a price are listed without one: that they cost nothing is
// only said where the provider names them free.
package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"log"
	"math"
	"net/url"
	"os"
	"os/exec"
	"sort"
	"strconv"
	"strings"
	"time"
)

const module = "charm.land/catwalk"

type provider struct {
	ID       string  `json:"id"`
	Type     string  `json:"type"`
	Endpoint string  `json:"api_endpoint"`
	Models   []entry `json:"models"`
}

type entry struct {
	ID     string   `json:"id"`
	In     float64  `json:"cost_per_1m_in"`
	Out    float64  `json:"cost_per_1m_out"`
	A      float64  `json:"cost_per_1m_in_cached"`
	B      float64  `json:"cost_per_1m_out_cached"`
	Window int      `json:"context_window"`
	Most   int      `json:"default_max_tokens"`
	Levels []string `json:"reasoning_levels"`
}

// hosts are the providers' own addresses, where the data names a variable instead.
var hosts = map[string]string{
	"openai": "api.openai.com/v1", "anthropic": "api.anthropic.com", "gemini": "generativelanguage.googleapis.com/v1beta",
}

// others speak what jig does not, or are sold by the month.
var others = map[string]bool{"bedrock": true, "bedrock-europe": true, "vertexai": true, "copilot": true}

func main() {
	log.SetFlags(0)
	version := "latest"
	if len(os.Args) > 1 {
		version = os.Args[1]
	}
	// The command also fails where the module wants a newer Go, with the archive there all the same.
	out, err := exec.Command("go", "mod", "download", "-json", module+"@"+version).Output()
	var mod struct{ Version, Zip, Info, Error string }
	if json.Unmarshal(out, &mod) != nil || mod.Zip == "" {
		log.Fatal(mod.Error, err)
	}
	var info struct{ Time time.Time }
	data, err := os.ReadFile(mod.Info)
	check(err)
	check(json.Unmarshal(data, &info))
	archive, err := zip.OpenReader(mod.Zip)
	check(err)
	root := module + "@" + mod.Version
	files, err := fs.Glob(archive, root+"/internal/providers/configs/*.json")
	check(err)
	if len(files) == 0 {
		log.Fatal("the module has no data where it was")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Written by gen/main.go from %s %s; see LICENSE.catwalk.\n", module, mod.Version)
	fmt.Fprintf(&b, "# @provider address; then a model a line: id, dollars for a million tokens of input, output, cache\n")
	fmt.Fprintf(&b, "# reads and cache writes, context window, longest reply, reasoning levels. - is not known.\n")
	fmt.Fprintf(&b, "date %s\n", info.Time.Format("2006-01-02"))
	sort.Strings(files)
	for _, f := range files {
		var p provider
		data, err := fs.ReadFile(archive, f)
		check(err)
		check(json.Unmarshal(data, &p))
		if !others[p.ID] {
			write(&b, p)
		}
	}
	check(os.WriteFile("../models.txt", b.Bytes(), 0o644))
	licence, err := fs.ReadFile(archive, root+"/LICENSE")
	check(err)
	check(os.WriteFile("../LICENSE.catwalk", licence, 0o644))
}

func write(b *bytes.Buffer, p provider) {
	at := hosts[p.ID]
	if u, err := url.Parse(p.Endpoint); err == nil && u.Host != "" {
		at = u.Host + strings.TrimRight(u.Path, "/")
	}
	if at == "" {
		at = "-"
	}
	fmt.Fprintf(b, "@%s %s\n", p.ID, at)
	seen := map[string]bool{}
	for _, m := range p.Models {
		if seen[m.ID] || m.ID == "" || strings.ContainsAny(m.ID, "\t\n") {
			continue
		}
		seen[m.ID] = true
		fields := []string{m.ID}
		free := strings.HasSuffix(m.ID, ":free")
		if m.In > 0 && m.Out > 0 || free {
			low, high := cache(m)
			fields = append(fields, rate(m.In), rate(m.Out), rate(low), rate(high))
		} else {
			fields = append(fields, "-", "-", "-", "-")
		}
		levels := strings.Join(m.Levels, ",")
		if levels == "" {
			levels = "-"
		}
		fields = append(fields, count(m.Window), count(m.Most), levels)
		fmt.Fprintln(b, strings.Join(fields, "\t"))
	}
}

// cache tells the prices of reading and writing.
func cache(m entry) (low, high float64) {
	low, high = m.In, m.In
	for _, x := range []float64{m.A, m.B} {
		if x > 0 && x < low {
			low = x
		}
		if x > high && x <= 2.5*m.In {
			high = x
		}
	}
	return low, high
}

func rate(dollars float64) string {
	n := int64(math.Round(dollars * 1e6))
	s := strings.TrimRight(fmt.Sprintf("%d.%06d", n/1e6, n%1e6), "0")
	return strings.TrimSuffix(s, ".")
}

func count(n int) string {
	if n <= 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
