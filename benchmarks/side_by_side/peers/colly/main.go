// Command colly crawls a list of pages with colly and writes an item of each as a line of JSON.
//
//	crawl URLS OUTPUT CONCURRENCY
//
// The fields and selectors are those of fields.py.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/PuerkitoBio/goquery"
	"github.com/gocolly/colly/v2"
)

type item struct {
	URL       string   `json:"url"`
	Title     string   `json:"title"`
	Author    string   `json:"author"`
	Published string   `json:"published"`
	Section   string   `json:"section"`
	Tags      []string `json:"tags"`
	Views     string   `json:"views"`
	Content   string   `json:"content"`
	Links     []string `json:"links"`
}

func texts(page *goquery.Selection, selector string) []string {
	return page.Find(selector).Map(func(_ int, found *goquery.Selection) string { return found.Text() })
}

func read(page *colly.HTMLElement) item {
	links := page.DOM.Find(".related a").Map(func(_ int, found *goquery.Selection) string {
		href, _ := found.Attr("href")
		return page.Request.AbsoluteURL(href)
	})
	return item{
		URL:       page.Request.URL.String(),
		Title:     page.DOM.Find("h1.title").First().Text(),
		Author:    page.DOM.Find("a.author").First().Text(),
		Published: page.DOM.Find("time").First().AttrOr("datetime", ""),
		Section:   page.DOM.Find("a.section").First().Text(),
		Tags:      texts(page.DOM, "a.tag"),
		Views:     page.DOM.Find("span.views").First().Text(),
		Content:   strings.Join(texts(page.DOM, ".post-body p"), "\n"),
		Links:     links,
	}
}

func main() {
	list, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	file, err := os.Create(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	concurrency, err := strconv.Atoi(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	output := bufio.NewWriterSize(file, 1<<16)
	encoder := json.NewEncoder(output)
	encoder.SetEscapeHTML(false)
	var lock sync.Mutex

	crawler := colly.NewCollector(colly.Async(true))
	// Go's default keeps two idle connections to a host; all the others would be opened anew for each page.
	crawler.WithTransport(&http.Transport{MaxIdleConns: concurrency, MaxIdleConnsPerHost: concurrency})
	if err := crawler.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: concurrency}); err != nil {
		log.Fatal(err)
	}
	crawler.OnHTML("html", func(page *colly.HTMLElement) {
		found := read(page)
		lock.Lock()
		defer lock.Unlock()
		if err := encoder.Encode(&found); err != nil {
			log.Fatal(err)
		}
	})
	crawler.OnError(func(response *colly.Response, err error) {
		log.Fatal(response.Request.URL, ": ", err)
	})
	for _, url := range strings.Fields(string(list)) {
		if err := crawler.Visit(url); err != nil {
			log.Fatal(url, ": ", err)
		}
	}
	crawler.Wait()
	if err := output.Flush(); err != nil {
		log.Fatal(err)
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
}
