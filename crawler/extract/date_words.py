"""The words of dates in the languages that `language.py` knows: months, halves of days, zones, and how long ago.

Months are those of Unicode's CLDR, wide and abbreviated, with spellings of news sites beside. All is in lower case, as
`written_dates.py` compares it; a word of several parts has `_` for its spaces and hyphens.
"""

from __future__ import annotations

from datetime import timedelta


def _numbered(rows: tuple[str, ...]) -> dict[str, int]:
    """Returns the number of each word's row, from 1."""
    return {name: number for number, names in enumerate(rows, start=1) for name in names.split()}


def _by_word(rows: dict[str, str]) -> dict[str, str]:
    """Returns the key of each word's row."""
    return {word: key for key, words in rows.items() for word in words.split()}


MONTHS = _numbered(
    (
        (
            "january jan ledna leden มกราคม ม.ค januari января янв январь січня січ січень januar janvier "
            "janv enero ene janeiro gennaio gen stycznia sty styczeń ocak oca يناير "
            "كانون_الثاني जनवरी जन jän jänner جانفي ژانویه"
        ),
        (
            "february feb února únor กุมภาพันธ์ ก.พ februari февраля февр февраль лютого лют лютий "
            "februar février févr febrero fevereiro fev febbraio lutego lut luty şubat şub "
            "فبراير شباط फ़रवरी फ़र fév فيفري فوریه фев"
        ),
        (
            "march mar března březen marts มีนาคม มี.ค maret марта мар март березня бер березень märz mär mars "
            "marzo março maart mrt marca marzec mart مارس آذار मार्च maerz mrz مارچ"
        ),
        (
            "april apr dubna duben เมษายน เม.ย апреля апр апрель квітня квіт квітень avril avr abril abr "
            "aprile kwietnia kwi kwiecień nisan nis أبريل نيسان अप्रैल أفريل آوریل"
        ),
        (
            "may května květen พฤษภาคม พ.ค mei мая май травня трав травень mai mayo maio maggio mag maja maj mayıs مايو أيار मई ماي مه"
        ),
        (
            "june jun června červen มิถุนายน มิ.ย juni июня июн июнь червня черв червень juin junio junho "
            "giugno giu czerwca cze czerwiec haziran haz يونيو حزيران जून جوان ژوئن"
        ),
        (
            "july jul července červenec กรกฎาคม ก.ค juli июля июл июль липня лип липень juillet juil julio "
            "julho luglio lug lipca lipiec temmuz tem يوليو تموز जुलाई जुल جويلية ژوئیه"
        ),
        (
            "august aug srpna srpen augusti สิงหาคม ส.ค agustus agu августа авг август серпня серп серпень août "
            "agosto ago augustus sierpnia sie sierpień ağustos ağu أغسطس آب अगस्त अग aoû aout "
            "agos أوت غشت اوت"
        ),
        (
            "september sep září กันยายน ก.ย сентября сент сентябрь вересня вер вересень sept "
            "septembre septiembre setembro set settembre września wrz wrzesień eylül eyl "
            "سبتمبر أيلول सितंबर सित sett setiembre сен شتنبر سپتامبر"
        ),
        (
            "october oct října říjen ตุลาคม ต.ค oktober okt октября окт октябрь жовтня жовт жовтень "
            "octobre octubre outubro out ottobre ott października paź październik ekim eki "
            "أكتوبر تشرين_الأول अक्टूबर अक्टू اکتبر"
        ),
        (
            "november nov listopadu พฤศจิกายน พ.ย ноября нояб ноябрь листопада лист листопад novembre "
            "noviembre novembro kasım kasim kas نوفمبر تشرين_الثاني नवंबर नव "
            "ноя نوامبر"
        ),
        (
            "december dec prosince prosinec ธันวาคม ธ.ค desember des декабря дек декабрь грудня груд грудень "
            "dezember dez décembre déc diciembre dic dezembro dicembre grudnia gru grudzień "
            "aralık ara ديسمبر كانون_الأول दिसंबर दिस دجنبر دسامبر"
        ),
    )
)
# Names that are of another month in another language: these are read on a page of one of those languages alone.
SHARED_MONTHS = {
    "listopad": {"pl": 11, "cs": 11, "hr": 10}, "listopada": {"pl": 11, "hr": 10}, "lis": {"pl": 11, "hr": 10},
    "lip": {"pl": 7, "hr": 6},
}  # fmt: skip
# Months of the Persian (solar Hijri) calendar, which Iranian sites use.
PERSIAN_MONTHS = _numbered(tuple("فروردین اردیبهشت خرداد تیر مرداد شهریور مهر آبان آذر دی بهمن اسفند".split()))

# The parts of a day: `am` and `pm` add 0 and 12 hours to an hour below 12; `noon` and `evening` are the part around an
# hour; `unsure` covers hours of both halves, so that an hour below 13 beside it says nothing.
HALVES = _by_word(
    {
        "am": "am a.m a.m. 上午 凌晨 早上 早 清晨 早朝 午前 오전 새벽 sa sáng ص صباحا صباحًا ق.ظ صبح öö утра ранку morgens vormittags "
        "du_matin matin de_la_mañana da_manhã di_mattina del_mattino rano पूर्वाह्न सुबह pagi in_the_morning 's_ochtends",
        "pm": "pm p.m p.m. 下午 午后 午後 傍晚 夕方 오후 ch chiều م مساء مساءً ب.ظ عصر ös вечера вечора nachmittags abends "
        "de_l'après_midi après_midi du_soir de_la_tarde da_tarde di_pomeriggio del_pomeriggio di_sera po_południu "
        "wieczorem अपराह्न शाम sore in_the_afternoon in_the_evening 's_middags 's_avonds",
        "noon": "中午 正午 정오 trưa noon midi mediodía mezzogiorno meio_dia mittag полдень полудень опівдні południe "
        "w_południe öğle öğlen tengah_hari เที่ยง الظهر",
        "evening": "晚上 夜晚 晚间 晚間 晚",
        "unsure": "tối đêm siang malam дня ночи ночі nachts mittags de_la_noche da_noite di_notte दोपहर रात 夜 밤 저녁 아침 낮 "
        "ظهرا شب ظهر gece sabah akşam öğleden_sonra w_nocy 's_nachts de_la_madrugada da_madrugada de_la_nuit เช้า บ่าย เย็น ค่ํา "
        "朝 昼 深夜 半夜 夜里 夜裡 夜中 午夜 자정 at_night midnight minuit medianoche mezzanotte meia_noite mitternacht "
        "middernacht полночь полночи опівночі północ gece_yarısı tengah_malam nửa_đêm เที่ยงคืน منتصف_الليل نیمه_شب نیمهشب",
    }
)
# Hours east of Greenwich of zones with one meaning. Those with several (CST, IST, BST ...) are read only where the
# site's own zone calls itself so.
ZONES = {
    "z": 0, "utc": 0, "gmt": 0, "ut": 0, "wet": 0, "west": 1, "cet": 1, "cest": 2, "mez": 1, "mesz": 2, "eet": 2,
    "eest": 3, "msk": 3, "мск": 3, "trt": 3, "gst": 4, "irst": 3.5, "pkt": 5, "wib": 7, "wita": 8, "wit": 9, "ict": 7,
    "hkt": 8, "sgt": 8, "jst": 9, "kst": 9, "awst": 8, "acst": 9.5, "acdt": 10.5, "aest": 10, "aedt": 11, "nzst": 12,
    "nzdt": 13, "brt": -3, "art": -3, "clt": -4, "clst": -3, "edt": -4, "est": -5, "cdt": -5, "mst": -7, "mdt": -6,
    "pst": -8, "pdt": -7, "akst": -9, "akdt": -8, "hst": -10, "北京时间": 8, "北京時間": 8, "中国时间": 8,
    "台北时间": 8, "台北時間": 8, "臺北時間": 8, "香港时间": 8, "香港時間": 8, "新加坡时间": 8, "日本時間": 9, "日本时间": 9,
    "东京时间": 9, "東京時間": 9, "首尔时间": 9, "韩国时间": 9, "한국시간": 9, "서울시간": 9, "莫斯科时间": 3, "莫斯科時間": 3,
    "格林尼治时间": 0, "格林尼治標準時間": 0, "格林威治时间": 0, "格林威治時間": 0, "世界时间": 0, "世界標準時間": 0,
}  # fmt: skip
# Zones whose hours depend on the season.
SEASONAL_ZONES = {
    "et": "America/New_York", "ct": "America/Chicago", "mt": "America/Denver", "pt": "America/Los_Angeles",
}  # fmt: skip
# Words in capitals that may stand behind a time and are no zones.
NO_ZONES = frozenset("am pm uhr hrs hr h by in on at von par por da di de the via".split())

_SECOND, _MINUTE, _HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
_DAY, _WEEK = timedelta(days=1), timedelta(days=7)
MONTH, YEAR = timedelta(days=30), timedelta(days=365)  # stand for calendar months and years
LONGER = timedelta(days=3_650)
UNITS = {
    unit: length
    for length, units in {
        _SECOND: "seconds second secs sec 秒 秒钟 秒鐘 초 giây วินาที detik секунду секунды секунд секунди sekunden sekunde secondes "
        "seconde segundos segundo secondi secondo seconden sekund sekundy sekundę saniye ثانية ثوان ثوانٍ ثانیه सेकंड सेकेंड",
        _MINUTE: "minutes minute mins min 分 分钟 分鐘 분 phút นาที menit минуту минуты минут мин хвилину хвилини хвилин хв minuten "
        "minuto minutos minuti minuut minuty minutę minut dakika dk دقيقة دقائق دقیقه मिनट",
        _HOUR: "hours hour hrs hr 小时 小時 个小时 個小時 時間 시간 giờ ชั่วโมง jam час часа часов годину години годин stunden stunde std "
        "heures heure horas hora ore ora uur uren godzin godziny godzinę godz saat ساعة ساعات ساعت घंटे घंटा घण्टे",
        _DAY: "days day 天 日 일 ngày วัน hari день дня дней дні днів tagen tage tag jours jour días día dias dia giorni giorno "
        "dagen dag dni dzień gün يوم أيام يومًا يوما روز दिन",
        _WEEK: "weeks week 周 星期 週間 주 tuần สัปดาห์ minggu неделю недели недель тиждень тижні тижнів wochen woche semaines "
        "semaine semanas semana settimane settimana weken tygodnie tygodni tydzień hafta أسبوع أسابيع هفته हफ़्ते हफ्ते सप्ताह wks wk",
        MONTH: "months month mos 个月 個月 月 か月 ヶ月 カ月 ヵ月 ケ月 箇月 개월 달 tháng เดือน bulan месяц месяца месяцев місяць місяці "
        "місяців monaten monate monat mois meses mes mês mesi mese maanden maand miesięcy miesiące miesiąc ay أشهر شهور شهر ماه "
        "महीने महीना माह",
        YEAR: "years year yrs yr 年 年間 년 năm ปี tahun год года лет рік роки років jahren jahre jahr années année ans an años año "
        "anos ano anni anno jaren jaar lata lat rok yıl سنوات سنة أعوام عام سال साल वर्ष",
        LONGER: "fortnight decades decade",
    }.items()
    for unit in units.split()
}
# Units that say "one" or "two" by themselves: Slavic accusatives, and Arabic's singular and dual.
COUNTED_UNITS = {
    **dict.fromkeys("минуту хвилину minutę دقيقة".split(), _MINUTE),
    **dict.fromkeys("час годину godzinę ساعة".split(), _HOUR),
    **dict.fromkeys("день dzień يوم".split(), _DAY),
    **dict.fromkeys("неделю тиждень tydzień أسبوع".split(), _WEEK),
    "دقيقتين": 2 * _MINUTE, "ساعتين": 2 * _HOUR, "يومين": 2 * _DAY, "أسبوعين": 2 * _WEEK,
}  # fmt: skip
# Chinese and Japanese numbers are made figures before.
COUNTS = {
    word: count
    for count, words in enumerate(
        (
            "a an one ein eine einer einem un une una uno um uma een één один одну одна jeden jedną bir một 한 एक یک หนึ่ง satu",
            "two zwei deux dos dois duas due twee два две дві dwa dwie iki hai दो دو สอง dua",
            "three drei trois tres três tre drie три trzy üç ba तीन سه สาม tiga",
            "four vier quatre cuatro quatro quattro четыре чотири cztery dört चार چهار สี่ empat",
            "five fünf cinq cinco cinque vijf пять п'ять pięć beş năm पाँच पांच پنج ห้า lima",
            "six sechs six seis sei zes шесть шість sześć altı sáu شش หก enam",
            "seven sieben sept siete sete sette zeven семь сім siedem yedi bảy هفت เจ็ด tujuh",
            "eight acht huit ocho oito otto восемь вісім osiem sekiz tám هشت แปด delapan",
            "nine neun neuf nueve nove negen девять дев'ять dziewięć dokuz chín نه เก้า sembilan",
            "ten zehn dix diez dez dieci tien десять dziesięć on mười ده สิบ sepuluh",
        ),
        start=1,
    )
    for word in words.split()
}
# Words before and behind a time that has passed since.
SINCE = "vor hace il_y_a há منذ قبل il_y_a_environ"
AGO = "ago 前 之前 전 trước ที่แล้ว ที่ผ่านมา yang_lalu lalu назад тому тому_назад atrás fa geleden temu önce پیش قبل पहले"
ABOUT = "about around approximately over almost etwa ca. ca gegen vers hacia sekitar circa environ около примерно cerca_de unos około yaklaşık khoảng 约 大约 約 약"
AND = "and und et y e и і i en ve và و"
# Words by which a count of units is no whole one.
PART = frozenset(
    "half quarter halben halbe halb viertel dreiviertel demi demie quart media medio cuarto meia meio mezz'ora mezza mezzo "
    "kwart kwartier pół wpół kwadrans пол пів полтора четверть чверть half_an buçuk yarım çeyrek نصف ونصف ربع وربع نیم setengah "
    "nửa rưỡi ครึ่ง साढ़े सवा डेढ़ ढाई पौने आधा आधे".split()
)

HALF_AN_HOUR_AGO = (
    "half_an_hour_ago 半小时前 半小時前 半个小时前 半個小時前 半个钟头前 vor_einer_halben_stunde hace_media_hora il_y_a_une_demi_heure "
    "полчаса_назад"
)
# Short forms of units on English pages.
SHORT_UNITS = {"s": _SECOND, "m": _MINUTE, "h": _HOUR, "d": _DAY, "w": _WEEK, "mo": MONTH, "y": YEAR}
NOW = "just_now now 刚刚 剛剛 たった今 방금 방금_전 vừa_xong เมื่อสักครู่ baru_saja только_что щойно gerade_eben à_l'instant ahora_mismo agora_mesmo proprio_ora adesso zojuist przed_chwilą az_önce şimdi الآن هماکنون अभी"
NEAR_DAYS = {
    word: days
    for days, words in enumerate(
        (
            (
                "today 今天 今日 本日 오늘 hôm_nay วันนี้ hari_ini сегодня сьогодні heute aujourd'hui aujourd’hui hoy hoje oggi vandaag "
                "dzisiaj dziś bugün اليوم امروز आज"
            ),
            (
                "yesterday 昨天 昨日 어제 hôm_qua เมื่อวาน เมื่อวานนี้ kemarin вчера вчора gestern hier ayer ontem ieri gisteren "
                "wczoraj dün أمس امس دیروز"
            ),
            (
                "前天 一昨日 おととい 그제 그저께 hôm_kia позавчера позавчора vorgestern avant_hier anteayer anteontem "
                "eergisteren przedwczoraj"
            ),
        )
    )
    for word in words.split()
}
# From Monday, which is 0 as in Python.
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            (
                "monday montag lundi lunes lunedì lunedi segunda_feira maandag poniedziałek понедельник понеділок pazartesi senin "
                "thứ_hai จันทร์ الاثنين الإثنين دوشنبه دو_شنبه सोमवार"
            ),
            (
                "tuesday dienstag mardi martes martedì martedi terça_feira dinsdag wtorek вторник вівторок salı selasa "
                "thứ_ba อังคาร الثلاثاء سهشنبه سه_شنبه मंगलवार"
            ),
            (
                "wednesday mittwoch mercredi miércoles miercoles mercoledì mercoledi quarta_feira woensdag środa środę среда среду "
                "середа середу çarşamba rabu thứ_tư พุธ الأربعاء الاربعاء چهارشنبه چهار_شنبه बुधवार"
            ),
            (
                "thursday donnerstag jeudi jueves giovedì giovedi quinta_feira donderdag czwartek четверг четвер perşembe kamis "
                "thứ_năm พฤหัสบดี พฤหัส الخميس پنجشنبه پنج_شنبه गुरुवार बृहस्पतिवार"
            ),
            (
                "friday freitag vendredi viernes venerdì venerdi sexta_feira vrijdag piątek пятница пятницу п'ятниця п'ятницю cuma "
                "jumat thứ_sáu ศุกร์ الجمعة جمعه शुक्रवार"
            ),
            (
                "saturday samstag sonnabend samedi sábado sabato zaterdag sobota sobotę суббота субботу субота суботу cumartesi "
                "sabtu thứ_bảy เสาร์ السبت شنبه शनिवार"
            ),
            (
                "sunday sonntag dimanche domingo domenica zondag niedziela niedzielę воскресенье неділя неділю pazar minggu "
                "chủ_nhật อาทิตย์ الأحد الاحد یکشنبه یک_شنبه रविवार"
            ),
        )
    )
    for name in names.split()
}
# Short ones are names of people, too, or words, and are of other days in other languages.
SHORT_WEEKDAYS = {
    language: {name: number for number, names in enumerate(row.split()) for name in names.split("/")}
    for language, row in {
        "en": "mon tue/tues wed thu/thur/thurs fri sat sun",
        "de": "mo di mi do fr sa so",
        "fr": "lun mar mer jeu ven sam dim",
        "es": "lun mar mié/mie jue vie sáb/sab dom",
        "pt": "seg ter qua qui sex sáb/sab dom",
        "it": "lun mar mer gio ven sab dom",
        "nl": "ma di wo do vr za zo",
        "pl": "pon/pn wt śr czw pt sob niedz/nd",
        "ru": "пн вт ср чт пт сб вс",
        "uk": "пн вт ср чт пт сб нд",
        "tr": "pzt sal çar/çrş per cum cmt paz",
        "id": "sen sel rab kam jum sab mgg",
        "vi": "t2 t3 t4 t5 t6 t7 cn",
        "th": "จ อ พ พฤ ศ ส อา",
        "hi": "सोम मंगल बुध गुरु/बृहस्पति शुक्र शनि रवि",
    }.items()
}
CJK_WEEKDAYS = {
    mark: number
    for number, marks in enumerate(("一月월", "二火화", "三水수", "四木목", "五金금", "六土토", "日天일"))
    for mark in marks
}
# Words that say which of two dates a page was written on, and which it was changed on.
CHANGED = (
    "updated update edited modified changed 更新 更新于 编辑 編輯 修改 更新日 最終更新 編集 수정 cập_nhật sửa แก้ไข อัปเดต diperbarui diubah "
    "обновлено изменено отредактировано оновлено змінено aktualisiert geändert bearbeitet mis_à_jour modifié màj "
    "actualizado editado modificado atualizado aggiornato modificato bijgewerkt gewijzigd zaktualizowano aktualizacja "
    "edytowano güncellendi güncelleme düzenlendi تحديث تعديل بهروزرسانی ویرایش अपडेट संपादित"
)
WRITTEN = (
    "published posted created written 发布 发表 發表 發佈 投稿 公開 작성 등록 입력 đăng เผยแพร่ โพสต์ diterbitkan dipublikasikan опубликовано "
    "создано опубліковано veröffentlicht erstellt geschrieben publié posté publicado creado criado postado pubblicato "
    "gepubliceerd geplaatst opublikowano dodano utworzono yayınlandı yayınlanma oluşturuldu نشر انتشار منتشر प्रकाशित"
)
# Words beside a day such as `yesterday`, with those above; any other word there could change what it says.
BESIDE = (
    "at on um à às a las alle ore am pm в о об o klo kl om uhr 于 於 に lúc เวลา pukul jam kl. saat saati الساعة ساعت को "
    "by am: date time date: 时间 時間 日期 일시 날짜 ngày วันที่ tanggal дата datum fecha data tarih تاريخ تاریخ दिनांक am_ le el a_las alle_ore "
    "de to in den dem il die der o_godz godz godz. h น น. 時 บ posted_on published_on posté_le publié_le г года р року r roku "
    "the al ao ที่ vào pada em del las في günü uur hs hrs बजे पर 에 "
    "回复 回复于 回覆 回覆於 最后回复 最後回覆 最后发表 最後發表"
)

# With a word for time behind, these say what was done then; anything else there is a place.
LABELS_OF_TIME = (
    "日期 创建 創建 建立 最后更新 最後更新 修改 编辑 編輯 发帖 發帖 发文 發文 回复 回覆 回帖 评论 評論 留言 提问 提問 回答 上传 上傳 "
    "发送 發送 撰写 投稿 掲載 公開 作成 送信 登録 작성 등록 입력 수정 게시 日 号 號 일"
)
# Words and marks that may stand between two days: from one to the other, or the one and the other.
RANGES = (
    "to through thru until till and or bis und oder au et ou al a y hasta e até ao fino_al all' t/m tot tot_en_met en do i lub po "
    "по до и или та і й або sampai s/d s.d. hingga dan đến tới và ถึง และ से और إلى الى حتى و تا الی ile ve ilâ "
    "至 到 和 及 与 與 、 から と および ・ 부터 및 - \u2013 \u2014 ~ \u301c & + /"
)
# Words by which a number beside is an hour; any other number beside a day is not.
CLOCK = (
    "at um à às as alle ore om в о o lúc giờ pukul jam saat kl kl. klo เวลา โมง ทุ่ม นาฬิกา godz godz. godzina a_las a_la hora horas "
    "heures heure uur uhr часов часа годин o'clock الساعة ساعت बजे"
)

# Who writes the day first, the month first, or can't be known by the language alone.
DAY_FIRST = frozenset(
    "vi th id ru uk de fr es pt it nl pl tr ar hi cs sk da nb no fi el he ro bg hr sr sl et lv ca".split()
)
DAY_FIRST_ENGLISH = frozenset("gb au nz ie in sg hk mt ng ke pk my".split())
MONTH_FIRST_REGIONS = frozenset({"us", "pr", "pa", "ph"})
MONTH_FIRST_ZONES = (
    "America/New_York America/Chicago America/Denver America/Los_Angeles America/Phoenix America/Anchorage "
    "America/Detroit America/Boise America/Indiana/ America/Kentucky/ US/ Pacific/Honolulu Asia/Manila"
).split()
DAY_FIRST_ZONES = (
    "Europe/ Australia/ Africa/ Asia/Kolkata Asia/Calcutta Asia/Hong_Kong Asia/Macau Asia/Singapore Asia/Jakarta "
    "Asia/Bangkok Asia/Ho_Chi_Minh Asia/Saigon Asia/Dubai Asia/Riyadh Asia/Karachi Asia/Dhaka Asia/Istanbul "
    "Asia/Jerusalem Asia/Baghdad Pacific/Auckland America/Sao_Paulo America/Argentina/ America/Bogota "
    "America/Mexico_City America/Lima America/Santiago America/Caracas America/Montevideo"
).split()
